package parquet

// Page types and encodings, by their numbers in the format.
const (
	dataPage   = 0
	indexPage  = 1
	dictPage   = 2
	dataPageV2 = 3

	encPlain       = 0
	encPlainDict   = 2
	encRLE         = 3
	encDeltaInt    = 5
	encDeltaLength = 6
	encDeltaText   = 7
	encDict        = 8
	encSplit       = 9
)

// pageHead holds the used fields of a PageHeader.
type pageHead struct {
	kind, raw, packed int64 // raw and packed are the bytes before and after compression
	crc               uint32
	hasCRC            bool
	values, nulls     int64
	encoding          int64
	levelEncoding     int64 // encoding of definition levels, version 1
	defBytes          int64 // bytes of definition levels, version 2
	repBytes          int64
	plain             bool // version 2: the values are not compressed
}

// parseHead parses the page header at the front of b; n is its length in bytes. It fails with
// errCut where b ends inside the header.
func parseHead(b []byte) (h pageHead, n int, err error) {
	s := scan{b: b, entries: 1 << 10}
	err = s.fields(0, func(id int64, wire byte) (bool, error) {
		if wire == wireStruct {
			switch id {
			case 5, 7, 8:
				return true, h.inner(&s, id)
			}
			return false, nil
		}
		if wire != wireI32 {
			return false, nil
		}
		v, err := s.varint()
		switch id {
		case 1:
			h.kind = v
		case 2:
			h.raw = v
		case 3:
			h.packed = v
		case 4:
			h.crc, h.hasCRC = uint32(v), true
		}
		return true, err
	})
	return h, s.i, err
}

// inner parses the header of a data page (which is 5), a dictionary page (7) or a data page of
// version 2 (8).
func (h *pageHead) inner(s *scan, which int64) error {
	h.levelEncoding = encRLE
	return s.fields(1, func(id int64, wire byte) (bool, error) {
		if which == 8 && id == 7 {
			h.plain = wire == wireFalse
			return false, nil
		}
		if wire != wireI32 {
			return false, nil
		}
		v, err := s.varint()
		h.set(which, id, v)
		return true, err
	})
}

func (h *pageHead) set(which, id, v int64) {
	switch {
	case id == 1:
		h.values = v
	case id == 2 && which == 8:
		h.nulls = v
	case id == 2, id == 4 && which == 8:
		h.encoding = v
	case id == 3 && which == 5:
		h.levelEncoding = v
	case id == 5 && which == 8:
		h.defBytes = v
	case id == 6 && which == 8:
		h.repBytes = v
	}
}

// check returns an error where a size or count is impossible or over its limit. room is the
// number of bytes and rows the number of values left in the column chunk.
func (h *pageHead) check(room, rows int64) error {
	switch {
	case h.packed < 0 || h.packed > room:
		return damaged("page of %d bytes where %d are left", h.packed, room)
	case h.raw < 0 || h.values < 0 || h.defBytes < 0 || h.repBytes < 0 || h.nulls < 0 || h.nulls > h.values:
		return damaged("page with a negative size or count")
	case h.raw > maxPage:
		return refused("write smaller pages", "page of %d bytes, over the limit of %d", h.raw, maxPage)
	case h.kind == dictPage && h.values > maxDict:
		return refused("write without a dictionary", "dictionary of %d entries, over the limit of %d", h.values, maxDict)
	case (h.kind == dataPage || h.kind == dataPageV2) && h.values > rows:
		return damaged("page of %d values where %d are left", h.values, rows)
	}
	return nil
}
