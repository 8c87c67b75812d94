package capcli

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader reads UTF-16 text as UTF-8. A surrogate without its other half becomes a byte that is not valid
// UTF-8, so that two different names do not become one. So does half a unit at the end.
type utf16Reader struct {
	src   *bufio.Reader
	order binary.ByteOrder
	out   []byte // of a character that was not yet read to its end
}

// decodeUTF16 returns a reader of the UTF-8 text of src where head, the first bytes of the text, begins with a
// byte-order mark of UTF-16. head was read from src before. It returns nil for any other text.
func decodeUTF16(head []byte, src io.Reader) *utf16Reader {
	r := &utf16Reader{}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		r.order = binary.LittleEndian
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		r.order = binary.BigEndian
	default:
		return nil
	}
	r.src = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(head[2:])), src), 32<<10)
	return r
}

// Read implements io.Reader. It asks src for more only where it has no text.
func (r *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) && err == nil && (n == 0 || len(r.out) > 0 || r.src.Buffered() >= 4) {
		if len(r.out) == 0 {
			r.out, err = r.decode(r.out)
		}
		k := copy(p[n:], r.out)
		n, r.out = n+k, r.out[k:]
	}
	return n, err
}

// decode appends the next character to out.
func (r *utf16Reader) decode(out []byte) ([]byte, error) {
	var unit [2]byte
	switch _, err := io.ReadFull(r.src, unit[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return append(out, 0xff), nil
	case err != nil:
		return out, err
	}
	one := rune(r.order.Uint16(unit[:]))
	if !utf16.IsSurrogate(one) {
		return utf8.AppendRune(out, one), nil
	}
	if next, _ := r.src.Peek(2); len(next) == 2 {
		if both := utf16.DecodeRune(one, rune(r.order.Uint16(next))); both != utf8.RuneError {
			_, err := r.src.Discard(2)
			return utf8.AppendRune(out, both), err
		}
	}
	return append(out, 0xff), nil
}
