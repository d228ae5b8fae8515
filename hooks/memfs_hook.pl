# Run a memfs hook: `perl -C0 memfs_hook.pl PYTHON HOST`. For hooks that the service answers: Perl is
# there in 1 ms, Python in 6. What the service does not do is Python's, with all that came on stdin.
#
# What is asked, and how, is told by memfs/store/asking.py, which does the same: a test holds the two
# together. No module is loaded, `strict` neither (1 ms): the suite reads this file with it.

our ($python, @words) = @ARGV;
our $data = '';    # what was read of stdin
our $ended;        # whether that is all
our $line;         # the connection

delete $ENV{PERL_BADLANG};              # is told to Perl alone
exit 0 if exists $ENV{MEMFS_INSIDE};    # an assistant that memfs itself runs
$SIG{PIPE} = sub { };                   # who writes is told, and not ended
$SIG{ALRM} = sub { die "time is up\n" if $^S };
alarm 1;                                # for stdin: an answer is waited for more shortly
my $outcome = eval { asked() } // 'unanswered';
alarm 0;
run_python($outcome) if $outcome ne 'answered';

# Return 'answered', 'unanswered', or 'unasked': there may be, or is to be, another service.
sub asked {
    my $linux = $^O eq 'linux';
    my $root = $ENV{MEMFS_HOME} || "$ENV{HOME}/.agent-memory";
    my $path = "$root/local/service.sock";
    my (undef, undef, $mode, undef, $owner) = lstat "$root/local" or return 'unasked';
    return 'unasked' if $path !~ m{^/} || length $path > 100;
    return 'unasked' if $owner != $< || ($mode & 0170022) != 0040000;    # others may write there
    (undef, undef, $mode, undef, $owner) = lstat $path or return 'unasked';
    return 'unasked' if $owner != $< || ($mode & 0170000) != 0140000;    # a link leads elsewhere
    socket($line, 1, 1, 0) or return 'unasked';
    fcntl($line, 4, $linux ? 04000 : 4) or return 'unasked';    # it does not block
    connect($line, pack($linux ? 'SZ*' : 'xCZ*', 1, $path)) or return 'unasked';
    while (my $size = sysread(STDIN, $data, 1 << 18, length $data) // return 'unasked') {
        return 'unasked' if length $data > 512 << 10;
    }
    $ended = 1;
    my $left = 0.1;    # seconds that a prompt waits
    sent($line, question(), \$left) or return $left ? 'unasked' : 'unanswered';
    my $size = received(4, \$left) // return $left ? 'unasked' : 'unanswered';
    my $answer = received(unpack('N', $size), \$left) // return $left ? 'unasked' : 'unanswered';
    return 'unanswered' if substr($answer, 0, 1) ne '+';
    $SIG{ALRM} = sub { exit 0 };    # the host does not read it
    alarm 5;
    sent(\*STDOUT, substr $answer, 1) and syswrite $line, 'k';    # what is not taken was not said
    return 'answered';
}

sub question {
    my @common = grep { /^(?:HOME\z|TZ\z|MEMFS_)/ && $_ ne 'MEMFS_SESSION' } keys %ENV;
    my $environment = join "\0", sort map { "$_=$ENV{$_}" } @common;
    my $spent = sprintf '%.1f', 1000 * ((times)[0] + (times)[1]);
    my @lines = ('memfs-1', '-', '0.1.0', $environment, 'hook', $spent, @words);
    for (@lines) { tr/\n/\r/; $_ = ' ' if $_ eq '' }
    my $text = join("\n", @lines) . "\n\n" . $data;
    return pack('N', length $text) . $text;
}

# Return so many bytes; undef if the other side ended, or if no time is `left` for them.
sub received {
    my ($size, $left) = @_;
    my $found = '';
    while (length $found < $size) {
        vec(my $set = '', fileno $line, 1) = 1;
        in_time($left, $set, undef) or return undef;
        sysread($line, $found, $size - length $found, length $found) or return undef;
    }
    return $found;
}

# Return whether all of a text was written, in the time that is `left`, if that matters.
sub sent {
    my ($to, $text, $left) = @_;
    my $at = 0;
    while ($at < length $text) {
        vec(my $set = '', fileno $to, 1) = 1;
        !$left or in_time($left, undef, $set) or return 0;
        $at += syswrite($to, $text, 1 << 18, $at) // return 0;
    }
    return 1;
}

# Return whether one can read, or write; if not, no time is left.
sub in_time {
    my ($left, $reading, $writing) = @_;
    (my $ready, $$left) = select($reading, $writing, undef, $$left);
    $$left = 0 if !$ready;
    return $ready;
}

# Become the other launcher. What was read of stdin comes to it once more, and the rest after it.
sub run_python {
    my @said = $_[0] eq 'unasked' ? () : 'asked';
    if (length $data) {
        pipe(my $from, my $to) or return;
        if ($ended && length $data <= 4096) {    # a pipe takes that, and nobody has to wait
            sent($to, $data);
        }
        else {
            feed($from, $to);
        }
        open STDIN, '<&', $from;
    }
    exec $python, '-I', '-S', '-E', $0 =~ s/pl\z/py/r, @said, @words;
}

# Write what was read and is still to be read, in a process that ends with it, or with the hook.
sub feed {
    my ($from, $to) = @_;
    return if fork // exit 0;
    $SIG{ALRM} = sub { exit 0 };
    alarm 30;
    close $_ for $from, $line, *STDOUT, *STDERR;
    do { sent($to, $data) or exit 0 } while !$ended && sysread STDIN, $data, 1 << 16;
    exit 0;
}
