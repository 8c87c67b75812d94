package parquet

import (
	"errors"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/format"
)

// chunk reads the pages of one column of one row group, in order.
type chunk struct {
	f     *file
	where string
	codec format.CompressionCodec
	off   int64 // offset in the file of the next byte to read into win
	end   int64
	left  int64 // values in the pages not yet returned
	win   []byte
	pos   int // win[pos:] is not yet used
	out   []byte
}

// window is the least number of bytes read at once, where the chunk has so many left.
const window = 128 << 10

// fill reads until win[pos:] has at least n bytes, or all that the chunk has left.
func (c *chunk) fill(n int) error {
	have := len(c.win) - c.pos
	if have >= n {
		return nil
	}
	n = int(min(int64(max(n, window)), int64(have)+c.end-c.off))
	next := c.win[:0]
	if cap(next) < n {
		if err := c.f.take(int64(n - cap(next))); err != nil {
			return err
		}
		next = make([]byte, 0, n)
	}
	next = append(next, c.win[c.pos:]...)[:n]
	if err := c.f.readAt(next[have:], c.off); err != nil {
		return err
	}
	c.off += int64(n - have)
	c.win, c.pos = next, 0
	return nil
}

// take counts n bytes that are about to be allocated. It fails where the total is over maxHeld.
func (f *file) take(n int64) error {
	if f.held+n > maxHeld {
		return refused("write smaller pages", "pages of over %d bytes at once", maxHeld)
	}
	f.held += n
	return nil
}

// head reads the next page header; ok is false at the end of the chunk.
func (c *chunk) head() (h pageHead, ok bool, err error) {
	for want := 256; ; want *= 4 {
		if err := c.fill(want); err != nil {
			return h, false, err
		}
		b := c.win[c.pos:]
		if len(b) == 0 {
			return h, false, nil
		}
		h, n, err := parseHead(b)
		if errors.Is(err, errCut) && len(b) >= want && want < maxHeader {
			continue
		}
		if err != nil {
			return h, false, damaged("%s: page header: %v", c.where, err)
		}
		c.pos += n
		room := int64(len(c.win)-c.pos) + c.end - c.off
		if err := h.check(room, c.left); err != nil {
			return h, false, c.locateError(err)
		}
		return h, true, nil
	}
}

// nextPage returns the next data or dictionary page and its payload as stored, after checking its
// checksum; ok is false at the end of the chunk. The payload is valid until the next call. Pages
// of other kinds are skipped.
func (c *chunk) nextPage() (h pageHead, payload []byte, ok bool, err error) {
	for {
		if h, ok, err = c.head(); err != nil || !ok {
			if err == nil && c.left > 0 {
				err = damaged("%s: ends %d values early", c.where, c.left)
			}
			return h, nil, false, err
		}
		if err := c.fill(int(h.packed)); err != nil {
			return h, nil, false, err
		}
		payload = c.win[c.pos : c.pos+int(h.packed) : c.pos+int(h.packed)]
		c.pos += int(h.packed)
		if h.hasCRC && crc32.ChecksumIEEE(payload) != h.crc {
			return h, nil, false, damaged("%s: a page does not match its checksum", c.where)
		}
		if c.f.partly && !h.hasCRC && h.packed > 0 {
			return h, nil, false, damaged("%s: page without a checksum", c.where)
		}
		switch h.kind {
		case dataPage, dataPageV2:
			c.left -= h.values
			return h, payload, true, nil
		case dictPage:
			return h, payload, true, nil
		}
	}
}

// plainBytes returns the levels and the values of a page, decompressed. levels is empty for
// version 1, where values begins with the levels.
func (c *chunk) plainBytes(h *pageHead, payload []byte) (levels, values []byte, err error) {
	raw := h.raw
	if h.kind == dataPageV2 {
		n := h.repBytes + h.defBytes
		if n > int64(len(payload)) || n > raw {
			return nil, nil, damaged("%s: levels of %d bytes in a page of %d", c.where, n, len(payload))
		}
		levels, payload, raw = payload[h.repBytes:n], payload[n:], raw-n
	}
	if c.codec == format.Uncompressed || h.plain {
		return levels, payload, nil
	}
	if raw == 0 {
		return levels, nil, nil
	}
	if grow := raw - int64(cap(c.out)); grow > 0 {
		if err := c.f.take(grow); err != nil {
			return nil, nil, c.locateError(err)
		}
	}
	if c.out, err = unpack(c.codec, c.out[:0], payload, int(raw)); err != nil {
		return nil, nil, c.locateError(err)
	}
	return levels, c.out, nil
}
