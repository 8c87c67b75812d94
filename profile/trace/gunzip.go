package trace

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

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
