"""Certificates for servers on loopback, made for a test."""

from __future__ import annotations

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
    name = _make_name(host)
    issuer, signer = _load_signer(authority) if authority else (name, key)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([_make_alternative(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=not authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return str(path)


def lock_key(certificate: Path, path: Path) -> str:
    """Write the key of a certificate, locked by a passphrase, and return the path."""
    key = serialization.load_pem_private_key(certificate.read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    path.write_bytes(locked)
    return str(path)


def _make_name(host: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"memory of a team at {host}")])


def _make_alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _load_signer(path: str) -> tuple[x509.Name, ec.EllipticCurvePrivateKey]:
    data = Path(path).read_bytes()
    key = serialization.load_pem_private_key(data, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return x509.load_pem_x509_certificate(data).subject, key
