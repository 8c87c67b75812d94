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

// sealKey is the metadata key of the seal. Every file whose created_by begins with madeBy has
// one.
const (
	sealKey = "capcli.sha256"
	madeBy  = "capcli " // beginning of created_by

)

const sealDigits = 2 * sha256.Size

// unsealed holds the place of the digits until the seal is known.
var unsealed = strings.Repeat("0", sealDigits)

// sealMark precedes the digits in a footer: the key, then the Thrift head of a string of 64
// bytes.
var sealMark = []byte(sealKey + "\x18\x40")

// sealer hashes the bytes that pass through it to w. While holding is set it keeps them back, so
// that the seal can be put into the footer before the footer is written.
type sealer struct {
	w       io.Writer
	sum     hash.Hash
	holding bool
	held    bytes.Buffer
}

func (s *sealer) Write(p []byte) (int, error) {
	if s.holding {
		return s.held.Write(p)
	}
	_, _ = s.sum.Write(p) // a hash never fails
	return s.w.Write(p)
}

// finish puts the seal into the held bytes and writes them. It fails where they have no place for
// a seal.
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

// sealOf returns the digits of the seal in a footer and their offset in it; -1 where there is no
// seal.
func sealOf(footer []byte) (digits string, at int) {
	i := bytes.LastIndex(footer, sealMark)
	if i < 0 || i+len(sealMark)+sealDigits > len(footer) {
		return "", -1
	}
	at = i + len(sealMark)
	return string(footer[at : at+sealDigits]), at
}

// checkSeal checks the bytes of a file against its seal and reports whether it has one. footerAt
// is the offset of the footer. It fails where the bytes do not match.
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

// section returns a reader of the bytes from from to to. It has no method but Read, so that
// io.CopyBuffer uses the given buffer.
func section(r io.ReaderAt, from, to int64) io.Reader {
	return struct{ io.Reader }{io.NewSectionReader(r, from, to-from)}
}
