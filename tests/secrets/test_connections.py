"""Passwords in strings, calls and addresses that open a connection. Every sample is put together here."""

import pytest

from memfs.secrets import find_secrets
from tests.secrets.samples import values

PLAIN = "brak" + "sha"


@pytest.mark.parametrize(
    "text",
    [
        "Driver={MySQL ODBC 8.0 Driver};Server=db1;Database=shop;UID=bob;PWD=SECRET;",
        "DSN=prod;UID=bob;PWD=SECRET",
        "uid=bob; password=SECRET; server=db1",
        "bob:SECRET@tcp(db1:3306)/shop",
        "Data Source=db1;Initial Catalog=shop;User ID=bob;Password=SECRET",
        'conn = "DRIVER={SQL Server};SERVER=db1;UID=bob;PWD=" + "SECRET"',
        '<add connectionString="Data Source=db1;User Id=bob;Password=SECRET;" />',
        "host=db1 port=5432 dbname=shop user=bob password=SECRET",
        "jdbc:mysql://db1/shop?user=bob&password=SECRET",
        "jdbc:mysql://db1/shop?user=bob&amp;password=SECRET",
        "jdbc:mysql://db1/shop?password=SECRET&user=bob",
        "jdbc:mysql://db1/shop?user=bob&userpass=SECRET",
        "jdbc:sqlserver://db1:1433;databaseName=shop;user=bob;password=SECRET;encrypt=false",
        "jdbc:redshift://db1:5439/dev?UID=bob&PWD=SECRET",
        "jdbc:oracle:thin:bob/SECRET@db1:1521:shop",
        "cache.acme.dev:6380,password=SECRET,ssl=False",
        'DriverManager.getConnection("jdbc:mysql://db1/shop", "bob", "SECRET")',
        'new PSCredential ("bob", "SECRET")',
        'ConvertTo-SecureString -String "SECRET" -AsPlainText -Force',
    ],
)
def test_a_plain_word_is_a_password_where_it_opens_a_connection(text: str) -> None:
    assert values(text.replace("SECRET", PLAIN)) == [PLAIN]


@pytest.mark.parametrize(
    "text",
    [
        "Server=db1;Database=shop;Uid=myUser;Pwd=myPassword;",
        "Server=db1;Database=shop;UID=bob;PWD=bob;",
        "Server=db1;UID=bob;PWD=<your password>;",
        "Server=db1;UID=bob;PWD=${DB_PASSWORD};",
        "Server=db1;UID=bob;PWD=********;",
        "Server=db1;Trusted_Connection=Yes;Password=;UID=",
        "jdbc:mysql://db1/shop?user=root&password=root",
        "jdbc:mysql://db1/shop?user=bob&password=&useSSL=false",
        "connect(host=host, user=user, password=passwd, database=name)",
        "def connect(user=None, password=None): ...",
        "the fields are user=text and password=text",
        "select pwd = hashed from users",
        "jdbc:oracle:thin:user/password@db1:1521:shop",
        "user:password@tcp(db1:3306)/shop and root:root@tcp(localhost)/shop",
        "postgres://bob:secret@localhost/shop",
        "postgres://dbuser:secret@db.acme.dev/shop",
    ],
)
def test_what_opens_no_connection_is_left(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'DriverManager.getConnection(url, "bob", "SECRET")',
        "mysqli_connect('db1', 'bob', 'SECRET', 'shop')",
        "sqlplus bob/SECRET@shop",
        "net user bob SECRET /add",
        'ConvertTo-SecureString "SECRET" -AsPlainText -Force',
    ],
)
def test_a_word_with_a_number_is_a_password_where_it_opens_a_door(text: str) -> None:
    assert values(text.replace("SECRET", f"{PLAIN}7")) == [f"{PLAIN}7"]
    assert values(text.replace("SECRET", "changeme")) == []


def test_a_word_is_a_password_in_an_address_of_a_real_host_with_a_user_of_its_own() -> None:
    word = "sec" + "ret"
    assert values(f"postgres://acme_app:{word}@db1.acme.dev/shop") == [word]
