package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"capcli/profile"
)

// CompactOptions selects what Compact compacts. The zero value selects everything.
type CompactOptions struct {
	Hosts   []string
	Before  profile.Instant // only days that ended by this instant; 0 selects all days
	Program string          // version of capcli, written into the files
	Holder  string          // name of this program, shown to another program that finds the lock taken
}

// Compacted counts what Compact did.
type Compacted struct {
	Merged  int // files that were merged into others
	Into    int
	Removed int // files left by an earlier run whose rows are all in other files
	Rows    int64
	// RolledUp is the number of days of hosts of which roll-ups were made.
	RolledUp int
	Bad      []error // an error for each damaged file, which is left as it is
}

// Compact merges the files of each table, day and host into one. It may run beside a Writer. A
// crash at any point loses no rows. After a crash, a reader of this package sees no row twice,
// but a program that reads the files directly may see some rows twice until the next run. Compact
// fails where another program is compacting the same host, or where the disk fails.
func Compact(ctx context.Context, disk Disk, root string, o CompactOptions) (Compacted, error) {
	if disk == nil {
		disk = System{}
	}
	var done Compacted
	hosts, err := chosenHosts(disk, root, o.Hosts)
	if err != nil {
		return done, err
	}
	for _, host := range hosts {
		if err := compactHost(ctx, disk, root, host, o, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

func compactHost(ctx context.Context, disk Disk, root, host string, o CompactOptions, done *Compacted) (err error) {
	unlock, err := LockHost(disk, root, host, o.Holder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	l, err := list(disk, root, host)
	if err != nil {
		return err
	}
	if err := clearGone(disk, l.logDir()); err != nil {
		return err
	}
	if err := l.tidy(done); err != nil {
		return err
	}
	for from := 0; from < len(l.pieces); {
		to := from
		for to < len(l.pieces) && l.pieces[to].dir == l.pieces[from].dir && l.pieces[to].table == l.pieces[from].table {
			to++
		}
		first := &l.pieces[from]
		if first.table >= numTables { // rollUps makes them
			from = to
			continue
		}
		day := path.Dir(first.dir)
		var some []*piece
		for i := from; i < to; i++ {
			if p := &l.pieces[i]; !slices.Contains(l.gone, p) {
				some = append(some, p)
			}
		}
		from = to
		if o.Before != 0 && day >= datePrefix+DateOf(o.Before) {
			continue
		}
		if err := l.merge(ctx, some, o.Program, done); err != nil {
			return err
		}
	}
	return rollUps(ctx, disk, root, host, o, done)
}

// LockHost takes the lock of the program that compacts, uploads or prunes a host. It fails where another
// program has it; holder names this one.
func LockHost(disk Disk, root, host, holder string) (unlock func() error, err error) {
	dir := path.Join(root, logFolder, hostFolder(host))
	if err := disk.MakeDir(dir); err != nil {
		return nil, diskFault("creating", dir, err)
	}
	lock, err := disk.Lock(path.Join(dir, mergeLock), holder)
	if err != nil {
		return nil, diskFault("locking", path.Join(dir, mergeLock), err)
	}
	return lock.Close, nil
}

// tidy removes what an earlier compaction left: temporary files, and files whose segments are all
// in another file.
func (l *listing) tidy(done *Compacted) error {
	l.settle()
	var names []string
	for _, name := range l.temps {
		if path.Ext(name) == ".tmp" && mergeTemp == name[max(0, len(name)-len(mergeTemp)):] {
			names = append(names, name)
		}
	}
	for _, p := range l.gone {
		names = append(names, p.path())
		done.Removed++
	}
	return l.remove(names)
}

func (l *listing) remove(names []string) error {
	var dirs []string
	for _, name := range names {
		full := path.Join(l.root, name)
		if err := l.disk.Remove(full); err != nil && !isGone(err) {
			return diskFault("removing", full, err)
		}
		dirs = append(dirs, path.Dir(full))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := l.disk.SyncDir(dir); err != nil {
			return diskFault("syncing", dir, err)
		}
	}
	return nil
}

// merge combines the undamaged pieces into one file where there are two or more. It leaves
// damaged pieces as they are and adds their errors to done.Bad.
func (l *listing) merge(ctx context.Context, pieces []*piece, program string, done *Compacted) error {
	if len(pieces) < 2 {
		return nil
	}
	var sound []*piece
	var in numbers
	var rows int64
	for _, p := range pieces {
		o, err := l.open(p)
		if isDamage(err) {
			done.Bad = append(done.Bad, err)
			continue
		}
		if err != nil {
			return err
		}
		sound, in, rows = append(sound, p), in.union(o.in), rows+o.Rows()
		o.close()
	}
	if len(sound) < 2 {
		return nil
	}
	t, dir := sound[0].table, sound[0].dir
	out, err := newPart(l.disk, t, path.Join(l.root, dir), fmt.Sprintf(".%s-%08d%s", specs[t].name, in[0], mergeTemp), l.host, program)
	if err != nil {
		return err
	}
	if err := l.pour(ctx, out, sound); err != nil {
		out.drop()
		return err
	}
	if out.count != rows {
		out.drop()
		return fmt.Errorf("compacting %s: %d rows came of %d; nothing was changed", path.Join(l.root, dir), out.count, rows)
	}
	name, err := out.finish(in)
	if err != nil {
		return err
	}
	var gone []string
	for _, p := range sound {
		if p.name != name {
			gone = append(gone, p.path())
		}
	}
	done.Merged, done.Into, done.Rows = done.Merged+len(sound), done.Into+1, done.Rows+rows
	return l.remove(gone)
}

// pour writes all rows of pieces to out. Its row groups follow each other in time.
func (l *listing) pour(ctx context.Context, out *part, pieces []*piece) error {
	s := newStream(l, out.t, pieces, spanOf(0, 0))
	defer s.close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.fill(groupRows); err != nil {
			return err
		}
		if len(s.rows) == 0 {
			return nil
		}
		s.acc.sortByTime(s.rows)
		if err := out.group(s.acc, s.rows); err != nil {
			return err
		}
	}
}
