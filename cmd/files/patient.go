package files

import (
	"context"
	"io"
)

// patientReader reads r until ctx ends, even while a read of r blocks: a pipe whose writer stalls
// must not block Ctrl-C.
type patientReader struct {
	ctx    context.Context //nolint:containedctx // a Reader has no other place for it
	r      io.Reader
	filled chan chunk  // filled buffers; nil until the first Read
	empty  chan []byte // buffers to fill
	now    chunk       // the chunk that Read copies from
	at     int
}

// chunk is the outcome of one read.
type chunk struct {
	buf []byte // the whole buffer
	n   int
	err error
}

const chunkBytes = 128 << 10

// PatientReader returns a reader of r that fails with the cause of ctx when ctx ends, even while
// a read of r blocks.
func PatientReader(ctx context.Context, r io.Reader) io.Reader { return &patientReader{ctx: ctx, r: r} }

// Read implements io.Reader. After the end of ctx it fails with the cause of ctx.
func (p *patientReader) Read(b []byte) (int, error) {
	if p.filled == nil {
		p.filled, p.empty = make(chan chunk), make(chan []byte, 2)
		p.empty <- make([]byte, chunkBytes)
		p.empty <- make([]byte, chunkBytes)
		go p.fill()
	}
	for p.at == p.now.n {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.buf != nil {
			p.empty <- p.now.buf
		}
		select {
		case p.now = <-p.filled:
			p.at = 0
		case <-p.ctx.Done():
			p.now = chunk{err: context.Cause(p.ctx)}
			p.at = 0
		}
	}
	n := copy(b, p.now.buf[p.at:p.now.n])
	p.at += n
	return n, nil
}

// fill reads ahead by at most two buffers, until r or ctx ends.
func (p *patientReader) fill() {
	for buf := range p.empty {
		n, err := p.r.Read(buf)
		select {
		case p.filled <- chunk{buf, n, err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
