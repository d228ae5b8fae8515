"""Certificates for servers on loopback, made for a test."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_certificate(path: Path, host: str, days: int = 1, authority: str = "") -> str:
    """Write a certificate for a host, with its key, and return the path.

    It is valid until `days` from now. `authority` is the path of another, which signs it; without
    it signs itself.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"memory of a team at {host}")])
    is_number = host.replace(".", "").isdecimal()
    also: x509.GeneralName = x509.IPAddress(ip_address(host)) if is_number else x509.DNSName(host)
    issuer, signer = name, key
    if authority:
        data = Path(authority).read_bytes()
        issuer, signer = x509.load_pem_x509_certificate(data).subject, _load_key(data)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([also]), critical=False)
        .add_extension(x509.BasicConstraints(ca=not authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
    secret = _encode_key(key, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return str(path)


def lock_key(certificate: Path, path: Path) -> str:
    """Write the key of a certificate, locked by a passphrase, and return the path."""
    key = _load_key(certificate.read_bytes())
    path.write_bytes(_encode_key(key, serialization.BestAvailableEncryption(b"secret")))
    return str(path)


def _encode_key(
    key: ec.EllipticCurvePrivateKey, lock: serialization.KeySerializationEncryption
) -> bytes:
    pkcs8 = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, pkcs8, lock)


def _load_key(data: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(data, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key
