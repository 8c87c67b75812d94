package parquet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// sealKey is the metadata key of the seal; a file that says capcli made it has one.
const (
	sealKey = "capcli.sha256"
	madeBy  = "capcli " // begins created_by

)

const sealDigits = 2 * sha256.Size

// unsealed is what stands where the digits of the seal come.
var unsealed = strings.Repeat("0", sealDigits)

// sealMark stands before the digits in a footer: the key, then in Thrift "the
// next field is 64 bytes".
var sealMark = []byte(sealKey + "\x18\x40")

// sealer passes bytes on and hashes them. Once holding, it keeps them back, so
// that the seal can be set into the footer before that is written.
type sealer struct {
	w       io.Writer
	sum     hash.Hash
	holding bool
	held    bytes.Buffer
}

func newSealer(w io.Writer) *sealer { return &sealer{w: w, sum: sha256.New()} }

func (s *sealer) Write(p []byte) (int, error) {
	if s.holding {
		return s.held.Write(p)
	}
	_, _ = s.sum.Write(p) // a hash never fails
	return s.w.Write(p)
}

// finish sets the seal and writes what was held.
func (s *sealer) finish() error {
	b := s.held.Bytes()
	at := bytes.LastIndex(b, append(bytes.Clone(sealMark), unsealed...))
	if at < 0 {
		return errors.New("sealing parquet: the footer has no place for the seal")
	}
	_, _ = s.sum.Write(b)
	hex.Encode(b[at+len(sealMark):], s.sum.Sum(nil))
	_, err := s.w.Write(b)
	return err
}

// sealOf finds the seal in a footer and where in the footer its digits stand.
func sealOf(footer []byte) (digits string, at int) {
	i := bytes.LastIndex(footer, sealMark)
	if i < 0 || i+len(sealMark)+sealDigits > len(footer) {
		return "", -1
	}
	at = i + len(sealMark)
	return string(footer[at : at+sealDigits]), at
}

// checkSeal holds the bytes of a file against its seal. footerAt is where the
// footer begins. It tells whether there was a seal.
func checkSeal(r io.ReaderAt, size, footerAt int64, footer []byte) (bool, error) {
	want, at := sealOf(footer)
	if at < 0 {
		return false, nil
	}
	sum := sha256.New()
	from := footerAt + int64(at)
	_, err := io.CopyBuffer(sum, section(r, 0, from), make([]byte, min(256<<10, max(from, 1))))
	if err == nil {
		_, _ = io.WriteString(sum, unsealed)
		_, err = io.Copy(sum, section(r, from+sealDigits, size))
	}
	if err != nil {
		return true, fmt.Errorf("reading parquet to check its seal: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return true, damaged("its bytes do not match its seal: sha256 %s, sealed %q", got, want)
	}
	return true, nil
}

// section hides everything but Read, so that io.CopyBuffer uses its buffer.
func section(r io.ReaderAt, from, to int64) io.Reader {
	return struct{ io.Reader }{io.NewSectionReader(r, from, to-from)}
}
