"""The head of an answer, whatever a server sends, and no more than that."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from yarl import URL

from adaptive.conversation.response_head import ResponseHead, asked_head

HERE = "127.77.0.1"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(
    answer: Answer | bytes, secure: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port of a server that answers each connection with these bytes, or as it is told."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection and close it."""
        try:
            if isinstance(answer, bytes):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, HERE, 0, ssl=secure)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


async def head_from(port: int, path: str = "/", *addresses: str) -> ResponseHead:
    """The head of an answer to HEAD."""
    url = URL(f"http://site.test:{port}{path}")
    async with asyncio.timeout(30):
        return await asked_head("HEAD", url, addresses or [HERE])


async def test_request() -> None:
    """The request says what is asked for and where, and that is all."""
    asked: list[bytes] = []

    async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note the request."""
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with server(noted) as port:
        head = await head_from(port, "/a b/ä?q=1 2&r=%0d%0aX:y#part")
        assert head == ResponseHead(204, "")
    first, *fields = asked[0].decode("ascii").split("\r\n")
    assert first == "HEAD /a%20b/%C3%A4?q=1+2&r=%0D%0AX:y HTTP/1.1"
    assert fields == [
        f"Host: site.test:{port}",
        "User-Agent: Mozilla/5.0 (compatible; link check)",
        "Accept: */*",
        "Connection: close",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("answer", "head"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\n", ResponseHead(200, "")),
        (b"HTTP/1.1 404\r\nServer: x\r\n\r\nbody", ResponseHead(404, "")),
        (b"HTTP/1.1 302 Found\r\nlOCATION:  /next \r\nA: b\r\n\r\n", ResponseHead(302, "/next")),
        (b"HTTP/1.1 302 Found\r\nLocation:\r\n\r\n", ResponseHead(302, "")),
        (b"HTTP/1.1 302 Found\r\nX-Location: /no\r\n\r\nLocation: /no\r\n", ResponseHead(302, "")),
        ("HTTP/1.1 301 -\r\nLocation: /ä\r\n\r\n".encode(), ResponseHead(301, "/ä")),
        (b"HTTP/1.1 301 -\r\nLocation: /\xff\r\n\r\n", ResponseHead(301, "/\ufffd")),
        (b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", ResponseHead(200, "")),
        (b"HTTP/1.1 101 Other\r\nUpgrade: x\r\n\r\n", ResponseHead(101, "")),
    ],
)
async def test_heads(answer: bytes, head: ResponseHead) -> None:
    """Status and location are read as servers write them; interim answers are passed over."""
    async with server(answer) as port:
        assert await head_from(port) == head


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"SSH-2.0-tea\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 9,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_no_head(answer: bytes) -> None:
    """What is cut off, too long, endless or not HTTP is no answer."""
    async with server(answer) as port:
        with pytest.raises(OSError, match="answer"):
            await head_from(port)


@pytest.mark.parametrize("piece", [b"X: y\r\n" * 1000, b"x" * 10_000])
async def test_endless_head(piece: bytes) -> None:
    """Of a head without end little is taken in."""
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A head that goes on for 100 MB."""
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while sent < 100 * 2**20:
            writer.write(piece)
            sent += len(piece)
            await writer.drain()

    async with server(flood) as port:
        with pytest.raises(OSError, match="no head"):
            await head_from(port)
        await asyncio.sleep(0)
    assert sent < 16 * 2**20


async def test_endless_interim_answers() -> None:
    """Interim answers without end are given up after a few."""
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """An answer that is always about to come."""
        nonlocal sent
        while sent < 100 * 2**20:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
            sent += 25_000
            await writer.drain()

    async with server(flood) as port:
        with pytest.raises(OSError, match="interim"):
            await head_from(port)
    assert sent < 16 * 2**20


async def test_other_addresses() -> None:
    """Where an address takes no connection the next one is tried; those of IPv4 come first."""
    async with server(b"HTTP/1.1 200 OK\r\n\r\n") as port:
        assert await head_from(port, "/", "::1", "127.77.0.9", HERE) == ResponseHead(200, "")
        with pytest.raises(OSError):
            await head_from(port, "/", "127.77.0.9")
        with pytest.raises(OSError, match="no address"):
            await asked_head("GET", URL(f"http://site.test:{port}"), [])


async def test_no_name_is_looked_up() -> None:
    """The host's name is only told; were it looked up, it would not be found."""
    async with server(b"HTTP/1.1 200 OK\r\n\r\n") as port:
        assert await head_from(port) == ResponseHead(200, "")


@pytest.mark.parametrize("path", ["/\r\nX: y", "/\x00", "/\x7f"])
async def test_odd_signs(path: str) -> None:
    """No address can put a line of its own into the request."""
    async with server(b"HTTP/1.1 200 OK\r\n\r\n") as port:
        url = URL.build(scheme="http", host="site.test", port=port, path=path, encoded=True)
        with pytest.raises(OSError, match="odd signs"):
            await asked_head("GET", url, [HERE])


# --- certificates ---------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server for ``site.test`` and this address shows, and who trusts that."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.test")])
    names = [x509.DNSName("site.test"), x509.IPAddress(ipaddress.ip_address(HERE))]
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = tmp_path / "site.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = tmp_path / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(public, private)
    return serving, ssl.create_default_context(cafile=str(public))


@pytest.mark.parametrize("host", ["site.test", "site.test.", HERE])
async def test_trusted(host: str, certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """Over TLS the certificate is that of the host, by name or by address."""
    serving, trusting = certificate
    async with server(b"HTTP/1.1 200 OK\r\n\r\n", serving) as port:
        url = URL(f"https://{host}:{port}/")
        assert await asked_head("HEAD", url, [HERE], trusting) == ResponseHead(200, "")


async def test_not_trusted(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """Another host's certificate, and one of an unknown issuer, end it before anything is asked."""
    asked: list[bytes] = []

    async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note the request."""
        asked.append(await reader.readuntil(b"\r\n\r\n"))

    serving, trusting = certificate
    async with server(noted, serving) as port:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asked_head("GET", URL(f"https://other.test:{port}/"), [HERE], trusting)
        with pytest.raises(ssl.SSLCertVerificationError):
            await asked_head("GET", URL(f"https://site.test:{port}/"), [HERE])
    assert asked == []
