package parquet

import (
	"encoding/binary"

	pq "github.com/parquet-go/parquet-go"
)

// batch is the number of rows read at once.
const batch = 512

// cursor reads one flat column of a file from its first row to its last.
type cursor struct {
	f     *file
	l     leaf
	sort  sort
	names names
	group int // index of the next row group
	ch    *chunk
	dict  Vector
	cost  int64 // bytes counted for dictionaries

	rows   int   // rows left in the page
	levels *runs // nil where no row of the page can be null
	values decoder
	room   [batch]uint32
}

func newCursor(f *file, l leaf, once bool) (*cursor, error) {
	s, ok := sortOf(&l)
	if !ok {
		return nil, refused("write it as an integer, a double, a text or a timestamp", "column %q of type %v is not read", l.name, l.kind)
	}
	return &cursor{f: f, l: l, sort: s, names: names{once: once}}, nil
}

// read reads the next rows into v, which has at most batch rows. It fails where the file has
// fewer.
func (c *cursor) read(v Vector) error {
	for v.Len() > 0 {
		if c.rows == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := min(v.Len(), c.rows)
		if err := c.readWithinPage(v.Part(0, n)); err != nil {
			return c.ch.locateError(damaged("%v", err))
		}
		c.rows -= n
		v = v.Part(n, v.Len())
	}
	return nil
}

// readWithinPage reads rows that are all in the current page.
func (c *cursor) readWithinPage(v Vector) error {
	if c.levels == nil {
		clear(v.Null)
		return c.values.read(v)
	}
	levels := c.room[:v.Len()]
	if err := c.levels.read(levels); err != nil {
		return err
	}
	values := 0
	for k, level := range levels {
		v.Null[k] = level == 0
		values += int(level)
	}
	if values == 0 {
		return nil
	}
	dense := v.Part(0, values)
	if err := c.values.read(dense); err != nil {
		return err
	}
	v.spread(values)
	return nil
}

// nextPage opens the next data page, in the next row group at the end of one.
func (c *cursor) nextPage() error {
	for {
		if c.ch == nil || c.ch.left == 0 {
			if err := c.nextGroup(); err != nil {
				return err
			}
			continue
		}
		h, payload, ok, err := c.ch.nextPage()
		if err != nil {
			return err
		}
		if !ok {
			return c.ch.locateError(damaged("no page where one is due"))
		}
		levels, values, err := c.ch.plainBytes(&h, payload)
		if err != nil {
			return err
		}
		if h.kind == dictPage {
			err = c.dictionary(&h, values)
		} else {
			err = c.page(&h, levels, values)
		}
		if err != nil {
			return c.ch.locateError(asDamage(err))
		}
		if c.rows > 0 {
			return nil
		}
	}
}

func (c *cursor) nextGroup() error {
	if c.group >= len(c.f.meta.RowGroups) {
		return damaged("column %q ends early", c.l.name)
	}
	ch, err := c.f.chunk(c.group, &c.l)
	if err != nil {
		return err
	}
	if c.ch != nil {
		ch.win, ch.out = c.ch.win[:0], c.ch.out[:0]
	}
	c.group++
	c.ch, c.dict, c.values = ch, Vector{}, nil
	if ch.left == 0 && c.group < len(c.f.meta.RowGroups) {
		return c.nextGroup()
	}
	return nil
}

// dictionary decodes a dictionary page, whose number of entries was checked.
func (c *cursor) dictionary(h *pageHead, b []byte) error {
	if h.values > int64(len(b)/c.l.bytes()) || (h.encoding != encPlain && h.encoding != encPlainDict) {
		return errWire
	}
	const each = 24 // bytes of an entry without its text
	if more := h.values*each + int64(len(b)) - c.cost; more > 0 {
		if err := c.f.take(more); err != nil {
			return err
		}
		c.cost += more
	}
	c.dict = newVector(c.sort, int(h.values))
	d := plain{b: b, l: &c.l, names: &c.names}
	return d.read(c.dict)
}

// page prepares the decoders for the rows of a data page.
func (c *cursor) page(h *pageHead, levels, b []byte) error {
	c.levels = nil
	if c.l.optional {
		if h.levelEncoding != encRLE {
			return refused("write it again with a current library", "levels of encoding %d are not read", h.levelEncoding)
		}
		if h.kind == dataPage {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return errCut
			}
			n := 4 + int(binary.LittleEndian.Uint32(b))
			levels, b = b[4:n], b[n:]
		}
		if len(levels) > 0 || h.kind == dataPage {
			r := newRuns(levels, 1)
			c.levels = &r
		}
	}
	c.rows = int(h.values)
	var err error
	c.values, err = c.decoder(h, b)
	return err
}

func (c *cursor) decoder(h *pageHead, b []byte) (decoder, error) {
	isInt := c.l.kind == pq.Int32 || c.l.kind == pq.Int64
	switch e := h.encoding; {
	case e == encPlain:
		return &plain{b: b, l: &c.l, names: &c.names}, nil
	case e == encDict || e == encPlainDict:
		return c.lookups(b)
	case e == encDeltaInt && isInt:
		d, err := newDeltas(b, int(h.values))
		return &deltaInts{d}, err
	case (e == encDeltaLength || e == encDeltaText) && c.l.kind == pq.ByteArray:
		return newDeltaTexts(b, int(h.values), e == encDeltaText, &c.names)
	case e == encSplit && c.l.kind != pq.FixedLenByteArray && c.sort != texts:
		return &splits{b: b, l: &c.l}, nil
	case e == encRLE && c.l.kind == pq.Boolean:
		if len(b) < 4 {
			return nil, errCut
		}
		return &truths{bits: newRuns(b[4:], 1)}, nil
	}
	return nil, refused("write it with plain or dictionary encoding", "encoding %d of type %v is not read", h.encoding, c.l.kind)
}

// lookups returns the decoder of dictionary indexes: a byte with their width, then runs. A page
// of nulls alone may be empty.
func (c *cursor) lookups(b []byte) (decoder, error) {
	l := &lookups{dict: c.dict}
	if len(b) > 0 {
		if b[0] > 32 {
			return nil, errWire
		}
		l.index = newRuns(b[1:], uint(b[0]))
	}
	return l, nil
}
