package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits on outside text. Each is far above any real log.
const (
	maxLine    = 1 << 20  // bytes in a line or a quoted record
	maxColumns = 4096     // columns in a row
	maxPlain   = 64 << 30 // bytes after decompression
	maxRatio   = 1000     // bytes after decompression for each byte before
	ratioFrom  = 64 << 20 // the ratio is looked at from here on
)

// text is a stream of lines with limits. Its buffer is the only copy made.
type text struct {
	src     io.Reader
	buf     []byte
	at, end int   // buf[at:end] is not yet given out
	line    int   // lines given out
	err     error // why src ended: io.EOF, or what went wrong
	open    bool  // the last line had no end
}

func newText(src io.Reader) *text {
	return &text{src: src, buf: make([]byte, 256<<10)}
}

// fill reads more behind what is there; false when src has ended.
func (t *text) fill() bool {
	if t.err != nil {
		return false
	}
	if t.at > 0 {
		copy(t.buf, t.buf[t.at:t.end])
		t.end -= t.at
		t.at = 0
	}
	if t.end == len(t.buf) {
		t.buf = append(t.buf, make([]byte, len(t.buf))...)
	}
	for range 100 {
		n, err := t.src.Read(t.buf[t.end:])
		t.end += n
		if err != nil {
			t.err = err
			return n > 0
		}
		if n > 0 {
			return true
		}
	}
	t.err = io.ErrNoProgress
	return false
}

// head gives the first bytes, up to n, without taking them.
func (t *text) head(n int) []byte {
	for t.end-t.at < n && t.fill() {
	}
	return t.buf[t.at:min(t.end, t.at+n)]
}

// next gives the next line without its end. It is valid until the next call.
func (t *text) next() ([]byte, bool) {
	seen := 0
	for {
		if i := bytes.IndexByte(t.buf[t.at+seen:t.end], '\n'); i >= 0 {
			return t.take(seen+i, 1)
		}
		seen = t.end - t.at
		if seen > maxLine {
			t.err = errLongLine
			return nil, false
		}
		if !t.fill() {
			if !errors.Is(t.err, io.EOF) || t.at == t.end {
				return nil, false
			}
			return t.take(seen, 0)
		}
	}
}

func (t *text) take(n, end int) ([]byte, bool) {
	if n > maxLine {
		t.err = errLongLine
		t.end = t.at
		return nil, false
	}
	line := t.buf[t.at : t.at+n]
	t.at += n + end
	t.line++
	t.open = end == 0
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, true
}

// Read gives the bytes as they are, for formats that are not lines.
func (t *text) Read(p []byte) (int, error) {
	if t.at == t.end && !t.fill() {
		return 0, t.err
	}
	n := copy(p, t.buf[t.at:t.end])
	t.line += bytes.Count(p[:n], []byte{'\n'})
	t.at += n
	return n, nil
}

// Why a text may end other than by its end.
var (
	errLongLine = errors.New("a line is longer than 1 MiB")
	errTooBig   = errors.New("the file is too large")
)

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
