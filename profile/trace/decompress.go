package trace

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits on packed text. Each is far above any real log.
const (
	maxPlain  = 64 << 30 // bytes after decompression
	maxRatio  = 1000     // bytes after decompression for each byte before
	ratioFrom = 64 << 20 // the ratio is looked at from here on
)

// errTooBig is the error of a file that holds too much when it is unpacked.
var errTooBig = errors.New("the file is too large")

// guard counts what a decompressor makes of what it was given.
type guard struct {
	plain io.Reader
	raw   *meter
	n     int64
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.plain.Read(p)
	g.n += int64(n)
	if g.n > maxPlain {
		return n, fmt.Errorf("%w: over %d GiB when decompressed", errTooBig, maxPlain>>30)
	}
	if g.n > ratioFrom && g.n/maxRatio > g.raw.n {
		return n, fmt.Errorf("%w: over %d times its size when decompressed", errTooBig, maxRatio)
	}
	return n, err
}

// meter counts the bytes that pass, and keeps the last ones.
type meter struct {
	r    io.Reader
	n    int64
	tail [8]byte
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	kept := len(m.tail) - min(n, len(m.tail))
	copy(m.tail[:kept], m.tail[len(m.tail)-kept:])
	copy(m.tail[kept:], p[n-(len(m.tail)-kept):n])
	return n, err
}

// errNotCut is the error of gzip data that has the end of a whole file but does
// not unpack to it.
var errNotCut = errors.New("it ends as a whole file does, but does not unpack to that end")

// gunzip unpacks gzip members one after another (RFC 1952). A flate stream that
// was damaged may ask for more data than there is, as one does that was cut short:
// the two are told apart by the trailer.
type gunzip struct {
	raw *meter
	src *bufio.Reader
	z   *gzip.Reader
	n   uint64 // bytes that the member gave
}

func newGunzip(src io.Reader, raw *meter) (*gunzip, error) {
	g := &gunzip{raw: raw, src: bufio.NewReader(src)}
	z, err := gzip.NewReader(g.src)
	if err != nil {
		return nil, g.cause(err)
	}
	z.Multistream(false)
	g.z = z
	return g, nil
}

// Read implements io.Reader.
func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	g.n += uint64(n)
	if !errors.Is(err, io.EOF) {
		return n, g.cause(err)
	}
	g.n = 0
	if err := g.z.Reset(g.src); err != nil {
		return n, g.cause(err) // io.EOF where there is no further member
	}
	g.z.Multistream(false)
	return n, nil
}

// cause is err, or errNotCut where the data ended too early but is whole.
func (g *gunzip) cause(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && g.endsWhole() {
		return errNotCut
	}
	return err
}

// endsWhole tells whether the last bytes that were read are a trailer: the length of
// what was packed, modulo 2^32, is close to what came out. In a file that was cut
// short they are any bytes of the stream, which look like that once in a hundred
// times; then the file is refused though some of it could have been read. A tail of
// zeros is what a file system leaves that could not finish a write.
func (g *gunzip) endsWhole() bool {
	const near = 1 << 32 / 200
	length := binary.LittleEndian.Uint32(g.raw.tail[4:])
	off := int32(length - uint32(g.n)) //nolint:gosec // modulo 2^32, as the format says
	return g.raw.tail == [8]byte{} || g.raw.n >= 18 && off > -near && off < near
}
