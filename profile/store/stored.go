package store

import (
	"path"
	"strings"
)

// StoredFile is a Parquet file of a folder.
type StoredFile struct {
	Host string
	Day  string // 2026-11-20
	Name string
	Size int64

	l *listing
	p *piece
}

// Path returns the name of the file in the folder.
func (f *StoredFile) Path() string { return f.p.path() }

// HostFolder returns the name of the folder of a day and host in a folder.
func HostFolder(day, host string) string { return path.Join(datePrefix+day, hostFolder(host)) }

// HostFiles returns the files of a host, in order of day and table. It leaves out files whose
// segments are all in another file.
func HostFiles(disk Disk, root, host string) ([]StoredFile, error) {
	l, err := list(disk, root, host)
	if err != nil {
		return nil, err
	}
	l.settle()
	gone := map[*piece]bool{}
	for _, p := range l.gone {
		gone[p] = true
	}
	var all []StoredFile
	for i := range l.pieces {
		p := &l.pieces[i]
		if gone[p] {
			continue
		}
		day := strings.TrimPrefix(path.Dir(p.dir), datePrefix)
		all = append(all, StoredFile{Host: host, Day: day, Name: p.name, Size: p.size, l: l, p: p})
	}
	return all, nil
}

// Segments checks all bytes of the file and returns the numbers of its segments, as ranges. It
// fails with *capcli.InputError for a damaged file.
func (f *StoredFile) Segments() (string, error) {
	in, err := f.l.numbers(f.p)
	return in.String(), err
}

// Hosts returns the hosts of a folder, sorted.
func Hosts(disk Disk, root string) ([]string, error) { return hosts(disk, root, spanOf(0, 0)) }

// IsReplaced reports whether the file called old, of segments oldSegments, is of the same table as
// the file called name and all of its segments are among that file's.
func IsReplaced(old, oldSegments, name, segments string) bool {
	a, okA := parsePiece("", old)
	b, okB := parsePiece("", name)
	in, okIn := parseNumbers(oldSegments)
	all, okAll := parseNumbers(segments)
	return okA && okB && okIn && okAll && a.table == b.table && in.isSubsetOf(all)
}

// Overlap reports whether files of these names are of the same table and may have segments of the
// same number.
func Overlap(a, b string) bool {
	p, okP := parsePiece("", a)
	q, okQ := parsePiece("", b)
	return okP && okQ && p.table == q.table && p.from <= q.to && q.from <= p.to
}
