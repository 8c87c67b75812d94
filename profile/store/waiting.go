package store

import "strings"

// Waiting returns the size in bytes of the append log: of the ticks that are in no Parquet file yet.
// It may be called while Write and Close run.
func (w *Writer) Waiting() (int64, error) {
	entries, err := w.o.Disk.List(w.dir)
	if err != nil {
		return 0, diskFault("reading", w.dir, err)
	}
	n := int64(0)
	for _, e := range entries {
		if strings.HasSuffix(e.Name, logSuffix) {
			n += e.Size
		}
	}
	return n, nil
}
