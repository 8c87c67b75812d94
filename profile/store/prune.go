package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
)

// PruneOptions says what Prune removes.
type PruneOptions struct {
	Hosts []string // nil is all
	Keep  Keep
	// Today is an instant of the current day: neither that day nor a later one is removed. 0 is
	// unknown. The newest day recorded before it is never removed either.
	Today profile.Instant
	// Room returns the free bytes of the disk; ok is false where they are not known. While fewer
	// than Free are free, days are removed that Keep would keep.
	Room func() (free int64, ok bool)
	Free int64
	// Uploading says that the folder is uploaded, although there may be no record of it yet.
	Uploading bool
	// Check fails unless the bucket holds the files of a day, as the record of uploads u lists
	// them. Nil fails: then no day of a host that has a record is removed.
	Check  func(ctx context.Context, u *Upload, day string) error
	Holder string // name of this program, shown to another program that finds the lock taken
}

// Pruned is what Prune removed and what it had to keep.
type Pruned struct {
	Days []PrunedDay
	Kept []KeptDay
}

// PrunedDay is a removed day of a host.
type PrunedDay struct {
	Host  string
	Day   string // 2026-11-20
	Files int
	Bytes int64
	Why   string
}

// KeptDay is a day of a host that would have been removed.
type KeptDay struct {
	Host string
	Day  string
	Why  error
}

// gonePrefix begins the name of a day that is being removed, in the folder of the segments.
const gonePrefix = "gone-"

// Prune removes whole days of each host, the oldest first, until what is left is within o.Keep. The
// age of a day is the number of days from it to the newest day recorded before today: days are
// those of the ticks. Prune never removes the log, today, the newest day recorded before today, a
// day that is not yet uploaded where the folder is uploaded, nor a day with files that capcli did
// not write. It may run beside a Writer. It fails where another program compacts or prunes the same
// host, or where the disk fails. After a crash at any point each day is there whole or, for
// readers, not at all.
func Prune(ctx context.Context, disk Disk, root string, o PruneOptions) (Pruned, error) {
	if disk == nil {
		disk = System{}
	}
	var done Pruned
	hosts, err := chosenHosts(disk, root, o.Hosts)
	if err != nil {
		return done, err
	}
	for _, host := range hosts {
		p := pruning{ctx: ctx, disk: disk, root: root, host: host, o: &o, done: &done}
		if err := p.run(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// pruning is the removal of days of one host.
type pruning struct {
	ctx   context.Context
	disk  Disk
	root  string
	host  string
	o     *PruneOptions
	done  *Pruned
	days  []hostDay // in order of time
	total int64     // bytes of all files and of the log
}

// hostDay is a folder of one day and host.
type hostDay struct {
	date    string
	number  int64 // days since 1970-01-01
	bytes   int64
	files   []Entry // Parquet files
	entries []string
	foreign string // a file that capcli did not write; "" where there is none
}

func (p *pruning) logDir() string { return path.Join(p.root, logFolder, hostFolder(p.host)) }

func (p *pruning) run() (err error) {
	unlock, err := LockHost(p.disk, p.root, p.host, p.o.Holder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := clearGone(p.disk, p.logDir()); err != nil {
		return err
	}
	if err := p.list(); err != nil {
		return err
	}
	newest := len(p.days) - 1
	if p.o.Today != 0 {
		for newest >= 0 && p.days[newest].number >= dayOf(p.o.Today) {
			newest--
		}
	}
	for i := 0; i < newest; i++ {
		why := p.reason(&p.days[i], p.days[newest].number)
		if why == "" {
			return nil // a later day is younger
		}
		if err := p.removeDay(&p.days[i], why); err != nil {
			return err
		}
	}
	return nil
}

// reason says why a day is to be removed; "" where it is not. last is the newest day.
func (p *pruning) reason(d *hostDay, last int64) string {
	k := p.o.Keep
	switch {
	case k.Days > 0 && last-d.number >= k.Days:
		return fmt.Sprintf("older than %d %s", k.Days, capcli.Plural(k.Days, "day"))
	case k.Bytes > 0 && p.total > k.Bytes:
		return fmt.Sprintf("the box has over %d bytes", k.Bytes)
	case p.o.Free > 0 && p.o.Room != nil:
		if free, ok := p.o.Room(); ok && free < p.o.Free {
			return fmt.Sprintf("the disk has only %d bytes left", free)
		}
	}
	return ""
}

func (p *pruning) list() error {
	dates, err := p.disk.List(p.root)
	if err != nil {
		return diskFault("listing", p.root, err)
	}
	for _, e := range dates {
		date, ok := strings.CutPrefix(e.Name, datePrefix)
		at, err := time.Parse(time.DateOnly, date)
		if !ok || !e.Dir || err != nil {
			continue
		}
		d := hostDay{date: date, number: at.Unix() / 86_400}
		if err := p.listDay(&d); err != nil {
			return err
		}
		if len(d.files) > 0 {
			p.days = append(p.days, d)
			p.total += d.bytes
		}
	}
	slices.SortFunc(p.days, func(a, b hostDay) int { return cmp.Compare(a.number, b.number) })
	log, err := p.disk.List(p.logDir())
	for _, e := range log {
		p.total += e.Size
	}
	return diskFault("listing", p.logDir(), err)
}

func (p *pruning) listDay(d *hostDay) error {
	dir := path.Join(datePrefix+d.date, hostFolder(p.host))
	entries, err := p.disk.List(path.Join(p.root, dir))
	if err != nil {
		return diskFault("listing", path.Join(p.root, dir), err)
	}
	for _, e := range entries {
		d.bytes += e.Size
		d.entries = append(d.entries, e.Name)
		_, ours := parsePiece(dir, e.Name)
		switch {
		case ours && !e.Dir:
			d.files = append(d.files, e)
		case e.Dir || !strings.HasSuffix(e.Name, partTemp) && !strings.HasSuffix(e.Name, mergeTemp):
			d.foreign = e.Name
		}
	}
	return nil
}

// removeDay removes a day, or adds it to the kept days where it must not go.
func (p *pruning) removeDay(d *hostDay, why string) error {
	if err := p.allowed(d); err != nil {
		if cause := context.Cause(p.ctx); cause != nil {
			return cause
		}
		p.done.Kept = append(p.done.Kept, KeptDay{p.host, d.date, err})
		return nil
	}
	// One rename takes the day from its readers as a whole.
	day := path.Join(p.root, datePrefix+d.date)
	from, to := path.Join(day, hostFolder(p.host)), path.Join(p.logDir(), gonePrefix+d.date)
	if err := p.disk.Rename(from, to); err != nil {
		return diskFault("removing", from, err)
	}
	p.done.Days = append(p.done.Days, PrunedDay{Host: p.host, Day: d.date, Files: len(d.files), Bytes: d.bytes, Why: why})
	p.total -= d.bytes
	for _, dir := range []string{day, p.logDir()} {
		if err := p.disk.SyncDir(dir); err != nil {
			return diskFault("syncing", dir, err)
		}
	}
	if left, err := p.disk.List(day); err == nil && len(left) == 0 {
		_ = p.disk.Remove(day) // another host may have come meanwhile: then it stays
	}
	return clearGone(p.disk, p.logDir())
}

// allowed returns why a day must not be removed; nil where it may.
func (p *pruning) allowed(d *hostDay) error {
	if d.foreign != "" {
		return fmt.Errorf("it holds %s, which capcli did not write", d.foreign)
	}
	u, err := ReadUpload(p.disk, p.root, p.host)
	switch {
	case err != nil:
		return err
	case u == nil && !p.o.Uploading:
		return nil
	case u == nil:
		return errors.New("it is not uploaded yet")
	}
	if name := u.missing(d.date, d.files); name != "" {
		return fmt.Errorf("%s is not uploaded to %s yet", name, u.To)
	}
	if p.o.Check == nil {
		return fmt.Errorf("what is in %s cannot be checked", u.To)
	}
	return p.o.Check(p.ctx, u, d.date)
}

// clearGone removes what is left of removed days.
func clearGone(disk Disk, logDir string) error {
	entries, err := disk.List(logDir)
	if err != nil {
		return diskFault("listing", logDir, err)
	}
	for _, e := range entries {
		if !e.Dir || !strings.HasPrefix(e.Name, gonePrefix) {
			continue
		}
		dir := path.Join(logDir, e.Name)
		files, err := disk.List(dir)
		if err != nil {
			return diskFault("listing", dir, err)
		}
		for _, f := range files {
			if err := disk.Remove(path.Join(dir, f.Name)); err != nil && !isGone(err) {
				return diskFault("removing", path.Join(dir, f.Name), err)
			}
		}
		if err := disk.Remove(dir); err != nil && !isGone(err) {
			return diskFault("removing", dir, err)
		}
		if err := disk.SyncDir(logDir); err != nil {
			return diskFault("syncing", logDir, err)
		}
	}
	return nil
}
