package trace

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits on compressed input. Each is far above any real log.
const (
	maxPlain  = 64 << 30 // bytes after decompression
	maxRatio  = 1000     // bytes after decompression per compressed byte
	ratioFrom = 64 << 20 // bytes after decompression from which maxRatio applies
)

// errTooBig is the error of a file that is too large when decompressed.
var errTooBig = errors.New("the file is too large")

// guard enforces the limits on a decompressor's output. n counts the bytes of the output.
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

// meter counts the bytes that are read through it, and keeps the last eight.
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

// errNotCut is the error of gzip data that ends with a valid trailer, so that it is not
// truncated, but cannot be decompressed.
var errNotCut = errors.New("it ends as a whole file does, but does not unpack to that end")

// gunzip decompresses gzip members one after another (RFC 1952). A damaged flate stream may
// ask for more data than there is, just as a truncated one does. The trailer tells the two
// apart.
type gunzip struct {
	raw *meter
	src *bufio.Reader
	z   *gzip.Reader
	n   uint64 // decompressed bytes of the current member
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
		return n, g.cause(err) // io.EOF if there is no further member
	}
	g.z.Multistream(false)
	return n, nil
}

// cause returns errNotCut for an unexpected end of data that ends with a trailer, else err.
func (g *gunzip) cause(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && g.endsWhole() {
		return errNotCut
	}
	return err
}

// endsWhole reports whether the last eight bytes read look like a trailer: the length in it
// (of the original data, modulo 2^32) is close to the bytes decompressed so far. In a
// truncated file these are arbitrary bytes of the stream, which look like a trailer in one
// of a hundred cases; such a file is refused although part of it could have been read. A
// tail of zeros counts as whole: a file system leaves it after an unfinished write.
func (g *gunzip) endsWhole() bool {
	const near = 1 << 32 / 200
	length := binary.LittleEndian.Uint32(g.raw.tail[4:])
	off := int32(length - uint32(g.n)) //nolint:gosec // modulo 2^32, as the format says
	return g.raw.tail == [8]byte{} || g.raw.n >= 18 && off > -near && off < near
}
