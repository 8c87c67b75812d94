package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// listing is the files and segments of one host in a store.
type listing struct {
	disk   Disk
	root   string
	host   string
	pieces []piece // Parquet files, in order of date, table and segment number
	temps  []string
	logs   []int64  // segment numbers, ascending
	odd    []string // names of damaged segments that are kept
	gone   []*piece // files whose segments are all in another file; settle sets it
	next   int64    // number of the next segment
}

// days returns the folders of the days in want that a directory has, in order of time.
func days(disk Disk, root string, want span) ([]string, error) {
	entries, err := disk.List(root)
	if err != nil {
		return nil, diskFault("listing", root, err)
	}
	var all []string
	for _, e := range entries {
		date, ok := strings.CutPrefix(e.Name, datePrefix)
		if !ok || !e.Dir || len(date) != len(time.DateOnly) {
			continue
		}
		if want.from != math.MinInt64 && date < DateOf(profile.Instant(want.from)) || want.to != math.MaxInt64 && date > DateOf(profile.Instant(want.to)) {
			continue
		}
		all = append(all, e.Name)
	}
	return all, nil
}

// listAhead names the folders of root that are listed next, where the disk is far away.
func listAhead(disk Disk, root string, folders []string) {
	far, ok := disk.(FarDisk)
	if !ok {
		return
	}
	all := make([]string, len(folders))
	for i, f := range folders {
		all[i] = path.Join(root, f)
	}
	far.ListAhead(all)
}

// hosts returns the hosts that have files of days in want, or segments, in a directory, sorted.
func hosts(disk Disk, root string, want span) ([]string, error) {
	folders, err := days(disk, root, want)
	if err != nil {
		return nil, err
	}
	listAhead(disk, root, folders)
	folders = append(folders, logFolder)
	var hosts []string
	for _, f := range folders {
		entries, err := disk.List(path.Join(root, f))
		if err != nil {
			return nil, diskFault("listing", path.Join(root, f), err)
		}
		for _, e := range entries {
			if host, ok := hostOf(e.Name); ok && e.Dir {
				hosts = append(hosts, host)
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// chosenHosts returns the hosts of root that are among some; all where some is empty.
func chosenHosts(disk Disk, root string, some []string) ([]string, error) {
	all, err := hosts(disk, root, spanOf(0, 0))
	if len(some) > 0 {
		all = slices.DeleteFunc(all, func(host string) bool { return !slices.Contains(some, host) })
	}
	return all, err
}

func list(disk Disk, root, host string) (*listing, error) {
	return listDays(disk, root, host, spanOf(0, 0))
}

// listDays returns the files of a host of the days in want, and its segments.
func listDays(disk Disk, root, host string, want span) (*listing, error) {
	l := &listing{disk: disk, root: root, host: host, next: 1}
	folders, err := days(disk, root, want)
	if err != nil {
		return nil, err
	}
	for i := range folders {
		folders[i] = path.Join(folders[i], hostFolder(host))
	}
	listAhead(disk, root, folders)
	for _, f := range folders {
		if err := l.folder(f); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.table, b.table), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.name, b.name))
	})
	return l, l.segments()
}

func (l *listing) folder(dir string) error {
	entries, err := l.disk.List(path.Join(l.root, dir))
	if err != nil {
		return diskFault("listing", path.Join(l.root, dir), err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name, partTemp) || strings.HasSuffix(e.Name, mergeTemp) {
			l.temps = append(l.temps, path.Join(dir, e.Name))
		}
		if p, ok := parsePiece(dir, e.Name); ok && !e.Dir {
			p.size = e.Size
			l.pieces = append(l.pieces, p)
			l.next = max(l.next, p.to+1)
		}
	}
	return nil
}

func (l *listing) logDir() string { return path.Join(l.root, logFolder, hostFolder(l.host)) }

func (l *listing) segments() error {
	entries, err := l.disk.List(l.logDir())
	if err != nil {
		return diskFault("listing", l.logDir(), err)
	}
	for _, e := range entries {
		name, odd := strings.CutSuffix(e.Name, oddSuffix)
		seq, ok := seqOfLog(name)
		if !ok || e.Dir {
			continue
		}
		l.next = max(l.next, seq+1)
		if odd {
			l.odd = append(l.odd, e.Name)
		} else {
			l.logs = append(l.logs, seq)
		}
	}
	slices.Sort(l.logs)
	return nil
}

// holdsSegment reports whether a file of table t already holds segment seq.
func (l *listing) holdsSegment(t table, seq int64) (bool, error) {
	for i := range l.pieces {
		p := &l.pieces[i]
		if p.table != t || seq < p.from || seq > p.to {
			continue
		}
		in, err := l.numbers(p)
		if isDamage(err) {
			continue // the segment is then written again, or another file holds it
		}
		if err != nil {
			return false, err
		}
		if in.contains(seq) {
			return true, nil
		}
	}
	return false, nil
}

// isGone reports whether err says that a file does not exist.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// numbers returns the numbers of the segments in a file.
func (l *listing) numbers(p *piece) (numbers, error) {
	f, err := l.open(p)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.in, nil
}

// opened is an open Parquet file of the store that is sealed and matches its name.
type opened struct {
	*parquet.File
	piece  *piece
	name   string
	at     Reading
	in     numbers
	groups [][2]int64 // instants of the first and last tick of each row group, microseconds
}

func (o *opened) close() { _ = o.at.Close() } // the file was only read

func (l *listing) open(p *piece) (*opened, error) {
	return openPiece(l.disk, path.Join(l.root, p.path()), p, l.host)
}

func openPiece(disk Disk, name string, p *piece, host string) (*opened, error) {
	at, err := disk.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	if err != nil {
		return nil, diskFault("opening", name, err)
	}
	o := &opened{piece: p, name: name, at: at}
	if err := o.read(host); err != nil {
		o.close()
		if isDamage(err) {
			return nil, capcli.NameFile(err, name)
		}
		if errors.Is(err, parquet.ErrUnsealed) {
			return nil, &capcli.InputError{File: name, Text: err.Error(), Hint: "move it out of the directory", Err: err}
		}
		return nil, diskFault("reading", name, err)
	}
	return o, nil
}

func (o *opened) read(host string) error {
	size, err := o.at.Size()
	if err != nil {
		return err
	}
	open := parquet.Open
	if _, far := o.at.(PartReading); far {
		open = parquet.OpenPartly
	}
	if o.File, err = open(o.at, size); err != nil {
		return err
	}
	if err := o.columns(); err != nil {
		return err
	}
	odd := func(format string, args ...any) error {
		return &capcli.InputError{Text: fmt.Sprintf(format, args...), Hint: "the file was renamed or moved: put it back"}
	}
	if v, _ := o.Meta(metaTable); v != specs[o.piece.table].name {
		return odd("holds table %q, its name says %q", v, specs[o.piece.table].name)
	}
	if v, _ := o.Meta(metaHost); v != host {
		return odd("is of host %q and lies under that of %q", v, host)
	}
	v, _ := o.Meta(metaSegments)
	var ok bool
	if o.in, ok = parseNumbers(v); !ok || o.in[0] != o.piece.from || o.in[len(o.in)-1] != o.piece.to {
		return odd("holds segments %q, its name says %d to %d", v, o.piece.from, o.piece.to)
	}
	v, _ = o.Meta(metaGroups)
	for one := range strings.SplitSeq(v, ";") {
		var g [2]int64
		if _, err := fmt.Sscanf(one, "%d %d", &g[0], &g[1]); err != nil {
			return odd("metadata %q is %q", metaGroups, v)
		}
		o.groups = append(o.groups, g)
	}
	if len(o.groups) != o.Groups() {
		return odd("%d row groups, its metadata says %d", o.Groups(), len(o.groups))
	}
	return nil
}

// errOlder is the cause of an error about a file that lacks a column.
var errOlder = errors.New("made by another version")

// columns checks the columns of the file against those of its table. A file of an earlier version
// may lack nullable columns; a file of a later version may have more.
func (o *opened) columns() error {
	want := specs[o.piece.table].columns
	have := map[string]parquet.Column{}
	for _, c := range o.Columns() {
		have[c.Name] = c
	}
	for _, w := range want {
		c, ok := have[w.Name]
		switch {
		case !ok && w.Nullable:
		case !ok:
			return &capcli.InputError{Field: w.Name, Text: "there is no such column", Hint: "read it with the version that wrote it", Err: errOlder}
		case c.Kind != w.Kind:
			return &capcli.InputError{Field: w.Name, Text: "the column is of another type", Hint: "read it with the version that wrote it"}
		}
	}
	return nil
}

// block appends the rows of a row group to b. Columns that the file lacks are null.
func (o *opened) block(group int, b *block) error {
	have := o.Columns()
	n := int(o.GroupRows(group))
	if err := o.want(group, b, have); err != nil {
		return err
	}
	for i, c := range b.columns {
		all := &b.cols[i]
		all.Resize(b.n + n)
		v := all.Part(b.n, b.n+n)
		k := indexOf(have, c.Name)
		if k < 0 {
			for j := range v.Null {
				v.Null[j] = true
			}
			continue
		}
		if err := o.Read(group, k, &v); err != nil {
			if isDamage(err) {
				return capcli.NameFile(err, o.name)
			}
			return diskFault("reading", o.name, err)
		}
	}
	b.n += n
	return nil
}

// want names the chunks that block reads, where the file is far away.
func (o *opened) want(group int, b *block, have []parquet.Column) error {
	far, ok := o.at.(PartReading)
	if !ok {
		return nil
	}
	var ranges [][2]int64
	for _, c := range b.columns {
		k := indexOf(have, c.Name)
		if k < 0 {
			continue
		}
		off, n, err := o.Chunk(group, k)
		if err != nil {
			return capcli.NameFile(err, o.name)
		}
		ranges = append(ranges, [2]int64{off, n})
	}
	return diskFault("reading", o.name, far.Want(ranges))
}

func indexOf(columns []parquet.Column, name string) int {
	return slices.IndexFunc(columns, func(c parquet.Column) bool { return c.Name == name })
}
