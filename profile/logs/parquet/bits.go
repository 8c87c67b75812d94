package parquet

import "encoding/binary"

// bitsAt returns the width bits (at most 64) of b from bit p on, low bits first. Bits behind the
// end of b are zero.
func bitsAt(b []byte, p int, width uint) uint64 {
	at, shift := p>>3, uint(p&7)
	var lo, hi uint64
	if at+9 <= len(b) {
		lo, hi = binary.LittleEndian.Uint64(b[at:]), uint64(b[at+8])
	} else {
		var room [9]byte
		copy(room[:], b[min(at, len(b)):])
		lo, hi = binary.LittleEndian.Uint64(room[:]), uint64(room[8])
	}
	v := lo >> shift
	if shift+width > 64 {
		v |= hi << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// runs decodes the RLE and bit-packing hybrid of levels and dictionary indexes. It holds one run
// at a time, so a long run takes no memory.
type runs struct {
	b      []byte
	i      int // offset in b of the next head of a run
	width  uint
	left   int // values left in the run
	packed bool
	same   uint32 // the value of an RLE run
	bit    int    // bit offset in b of the next packed value
}

func newRuns(b []byte, width uint) runs { return runs{b: b, width: width} }

// read reads the next values into dst. It fails where fewer are left.
func (r *runs) read(dst []uint32) error {
	for len(dst) > 0 {
		if r.left == 0 {
			if err := r.start(); err != nil {
				return err
			}
			continue
		}
		n := min(r.left, len(dst))
		if r.packed {
			for k := range n {
				dst[k] = uint32(bitsAt(r.b, r.bit, r.width))
				r.bit += int(r.width)
			}
		} else {
			for k := range n {
				dst[k] = r.same
			}
		}
		r.left -= n
		dst = dst[n:]
	}
	return nil
}

// start reads the head of the next run.
func (r *runs) start() error {
	head, n := binary.Uvarint(r.b[r.i:])
	if n <= 0 || head>>1 > 1<<31 {
		return errCut
	}
	r.i += n
	r.packed = head&1 == 1
	r.left = int(head >> 1)
	room := len(r.b) - r.i
	if r.packed {
		bytes := r.left * int(r.width)
		r.left *= 8
		if bytes > room { // the last group may end right behind its last value
			if r.left = room * 8 / int(r.width); r.left == 0 {
				return errCut
			}
			bytes = room
		}
		r.bit = r.i * 8
		r.i += bytes
		return nil
	}
	bytes := int(r.width+7) / 8
	if bytes > room {
		return errCut
	}
	r.same = uint32(bitsAt(r.b[r.i:r.i+bytes], 0, r.width))
	r.i += bytes
	return nil
}

// deltas decodes DELTA_BINARY_PACKED: the differences of integers, in blocks of miniblocks.
type deltas struct {
	b       []byte
	i       int // offset in b behind the part that was read
	perMini int // values in a miniblock
	minis   int // miniblocks in a block
	left    int // values not yet read
	begun   bool
	value   int64
	least   int64  // smallest difference of the block
	widths  []byte // bit width of each miniblock of the block
	mini    int    // index of the next miniblock
	inMini  int    // values left in the current miniblock
	bit     int
	width   uint
}

// newDeltas reads the head of the stream b. It fails where the stream has over most values.
func newDeltas(b []byte, most int) (deltas, error) {
	s := scan{b: b}
	block, err1 := s.uvarint()
	minis, err2 := s.uvarint()
	total, err3 := s.uvarint()
	first, err4 := s.varint()
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return deltas{}, errCut
	}
	if block > 1<<16 || minis == 0 || minis > block || block/minis%8 != 0 || total > uint64(most) {
		return deltas{}, errWire
	}
	return deltas{b: b, i: s.i, perMini: int(block / minis), minis: int(minis), left: int(total), value: first}, nil
}

// read reads the next values into dst. It fails where the stream has fewer.
func (d *deltas) read(dst []int64) error {
	if len(dst) > d.left {
		return errCut
	}
	for k := range dst {
		if err := d.step(); err != nil {
			return err
		}
		dst[k] = d.value
	}
	return nil
}

// step advances value to the next value of the stream.
func (d *deltas) step() error {
	d.left--
	if !d.begun {
		d.begun = true
		return nil
	}
	if d.inMini == 0 {
		if err := d.start(); err != nil {
			return err
		}
	}
	d.value += d.least + int64(bitsAt(d.b, d.bit, d.width))
	d.bit += int(d.width)
	d.inMini--
	return nil
}

// start opens the next miniblock, and the next block at the end of one.
func (d *deltas) start() error {
	if d.mini == len(d.widths) {
		s := scan{b: d.b, i: d.i}
		least, err := s.varint()
		if err != nil || d.minis > len(d.b)-s.i {
			return errCut
		}
		d.least, d.mini = least, 0
		d.widths = d.b[s.i : s.i+d.minis]
		d.i = s.i + d.minis
	}
	d.width = uint(d.widths[d.mini])
	d.mini++
	bytes := d.perMini / 8 * int(d.width)
	if d.width > 64 || bytes > len(d.b)-d.i {
		return errCut
	}
	d.inMini, d.bit = d.perMini, d.i*8
	d.i += bytes
	return nil
}

// rest returns the bytes behind the stream.
func (d deltas) rest() ([]byte, error) {
	for d.left > 0 {
		if err := d.step(); err != nil {
			return nil, err
		}
	}
	return d.b[d.i:], nil
}
