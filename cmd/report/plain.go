package report

import (
	"bytes"
	"io"
)

// Plain is a writer that removes from each line what could control a terminal, as Strip does,
// except tabs. It writes whole lines; Flush writes a last line without an end.
type Plain struct {
	w    io.Writer
	line []byte
}

// NewPlain returns a Plain that writes to w.
func NewPlain(w io.Writer) *Plain { return &Plain{w: w} }

// Write implements io.Writer.
func (p *Plain) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	p.line = append(p.line, b[:end]...)
	if end > 0 {
		if err := p.Flush(); err != nil {
			return 0, err
		}
	}
	p.line = append(p.line, b[end:]...)
	return len(b), nil
}

// Flush writes the buffered text.
func (p *Plain) Flush() error {
	if len(p.line) == 0 {
		return nil
	}
	lines := bytes.Split(p.line, []byte{'\n'})
	for i, line := range lines {
		cells := bytes.Split(line, []byte{'\t'})
		for k, cell := range cells {
			cells[k] = []byte(Strip(string(cell)))
		}
		lines[i] = bytes.Join(cells, []byte{'\t'})
	}
	p.line = p.line[:0]
	_, err := p.w.Write(bytes.Join(lines, []byte{'\n'}))
	return err
}
