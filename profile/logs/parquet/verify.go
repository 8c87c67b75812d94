package parquet

import (
	"errors"
	"io"
)

// ErrUnsealed is the error for a file that shows no damage but has no seal: capcli did not write
// it, so a change to it may go unnoticed.
var ErrUnsealed = errors.New("no seal: capcli did not write this file, only its page checksums were held against it")

// Verify checks a whole file against its seal and every page against its checksum. Nil means that
// every byte is as capcli wrote it. It returns ErrUnsealed for a file of other origin that shows
// no damage, and *capcli.InputError for a damaged one.
func Verify(at io.ReaderAt, size int64) error {
	f, err := open(at, size)
	if err != nil {
		return err
	}
	for g := range f.meta.RowGroups {
		for i := range f.columns {
			if err := f.verify(g, &f.columns[i]); err != nil {
				return err
			}
		}
	}
	if !f.sealed {
		return ErrUnsealed
	}
	return nil
}

// verify walks the pages of one column in one row group.
func (f *file) verify(group int, l *leaf) error {
	c, err := f.chunk(group, l)
	if err != nil {
		return err
	}
	for {
		h, _, ok, err := c.nextPage()
		if err != nil || !ok {
			f.held = 0
			return err
		}
		if f.sealed && !h.hasCRC && h.packed > 0 {
			return c.locateError(damaged("page without a checksum"))
		}
	}
}
