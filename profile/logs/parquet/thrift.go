package parquet

import (
	"encoding/binary"
	"errors"
)

// Wire types of Thrift's compact protocol.
const (
	wireTrue   = 1
	wireFalse  = 2
	wireByte   = 3
	wireI16    = 4
	wireI32    = 5
	wireI64    = 6
	wireDouble = 7
	wireBinary = 8
	wireList   = 9
	wireSet    = 10
	wireStruct = 12
	wireUUID   = 13
)

// errCut is the error where the bytes end inside a value. More bytes may help.
var errCut = errors.New("the bytes end inside a value")

var (
	errWire  = errors.New("not thrift")
	errDeep  = errors.New("nested too deep")
	errLarge = errors.New("too many list entries")
)

// scan walks bytes of Thrift's compact protocol without allocating. It checks every length, so
// that a decoder that trusts lengths may read the bytes after it.
type scan struct {
	b       []byte
	i       int
	entries int // list entries still allowed
}

func (s *scan) byte() (byte, error) {
	if s.i >= len(s.b) {
		return 0, errCut
	}
	s.i++
	return s.b[s.i-1], nil
}

func (s *scan) uvarint() (uint64, error) {
	u, n := binary.Uvarint(s.b[s.i:])
	switch {
	case n == 0:
		return 0, errCut
	case n < 0:
		return 0, errWire
	}
	s.i += n
	return u, nil
}

func (s *scan) varint() (int64, error) {
	u, err := s.uvarint()
	return int64(u>>1) ^ -int64(u&1), err
}

func (s *scan) jump(n uint64) error {
	if n > uint64(len(s.b)-s.i) {
		return errCut
	}
	s.i += int(n)
	return nil
}

// fields walks one struct. For each field it calls visit, which either reads the value from s and
// returns true, or returns false to have the value skipped.
func (s *scan) fields(depth int, visit func(id int64, wire byte) (taken bool, err error)) error {
	var id int64
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = s.varint(); err != nil {
			return err
		}
		taken := false
		if visit != nil {
			if taken, err = visit(id, head&15); err != nil {
				return err
			}
		}
		if !taken {
			if err := s.skip(head&15, depth, false); err != nil {
				return err
			}
		}
	}
}

// list reads the head of a list and subtracts its entries from s.entries. It fails where they are
// more than are allowed, or more than the bytes left: each entry takes at least one.
func (s *scan) list() (n int, wire byte, err error) {
	head, err := s.byte()
	if err != nil {
		return 0, 0, err
	}
	size := uint64(head >> 4)
	if size == 15 {
		if size, err = s.uvarint(); err != nil {
			return 0, 0, err
		}
	}
	if size > uint64(s.entries) {
		return 0, 0, errLarge
	}
	if size > uint64(len(s.b)-s.i) {
		return 0, 0, errCut
	}
	s.entries -= int(size)
	return int(size), head & 15, nil
}

// skip skips one value. A bool in a list takes one byte; in a struct the wire type is its value.
func (s *scan) skip(wire byte, depth int, inList bool) error {
	switch wire {
	case wireTrue, wireFalse:
		if inList {
			return s.jump(1)
		}
		return nil
	case wireByte:
		return s.jump(1)
	case wireI16, wireI32, wireI64:
		_, err := s.uvarint()
		return err
	case wireDouble:
		return s.jump(8)
	case wireUUID:
		return s.jump(16)
	case wireBinary:
		n, err := s.uvarint()
		if err != nil {
			return err
		}
		return s.jump(n)
	case wireList, wireSet, wireStruct:
		return s.nested(wire, depth)
	}
	return errWire // a map too: the metadata of Parquet has none
}

func (s *scan) nested(wire byte, depth int) error {
	if depth >= 16 {
		return errDeep
	}
	if wire == wireStruct {
		return s.fields(depth+1, nil)
	}
	n, of, err := s.list()
	for ; n > 0 && err == nil; n-- {
		err = s.skip(of, depth+1, true)
	}
	return err
}

// checkFooter walks a footer, a FileMetaData with the schema in field 2 and the row groups in
// field 4. It fails where the footer is malformed or its lists are over the limits, so that
// decoding it cannot take much memory.
func checkFooter(b []byte) error {
	s := scan{b: b, entries: maxEntries}
	err := s.fields(0, func(id int64, wire byte) (bool, error) {
		if wire != wireList || (id != 2 && id != 4) {
			return false, nil
		}
		at, left := s.i, s.entries
		n, _, err := s.list()
		s.i, s.entries = at, left
		switch {
		case err != nil:
			return false, err
		case id == 2 && n > 2*maxColumns+1:
			return false, refused("write fewer columns", "%d columns and groups, over the limit of %d", n-1, 2*maxColumns)
		case id == 4 && n > maxGroups:
			return false, refused("write larger row groups", "%d row groups, over the limit of %d", n, maxGroups)
		}
		return false, nil
	})
	switch {
	case errors.Is(err, errLarge):
		return refused("write larger row groups or fewer columns", "footer with over %d entries", maxEntries)
	case errors.Is(err, errCut), errors.Is(err, errWire), errors.Is(err, errDeep):
		return damaged("footer: %v", err)
	}
	return err
}
