package store

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"capcli/profile"
)

const (
	oneHour = profile.Instant(3_600_000_000)
	oneDay  = 24 * oneHour
	// leadTime is how long before an instant samples can tell what is known at that instant: see
	// profile.Summarizer.
	leadTime = oneHour
)

// day is one UTC day of a host in one directory.
type day struct {
	begin profile.Instant
	dir   string  // date and host folder, relative to the root
	in    numbers // segments with ticks of the day, in files or not yet
	// open is a segment of the day that is not yet, or not wholly, in files.
	open bool
	// sampled is a day with samples in files.
	sampled bool
	hours   []*piece // files of the table hours, of which one at most is up to date
	// minutes are those of the table minutes.
	minutes []*piece
	told    []*piece
}

// days returns the days of which the listing or one of the segments logs has ticks, in order. logs
// must have been listed before the files.
func (l *listing) days(logs []segmentRows) ([]day, error) {
	byDir := map[string]*day{}
	at := func(dir string) *day {
		if byDir[dir] == nil {
			byDir[dir] = &day{dir: dir}
		}
		return byDir[dir]
	}
	for i := range l.pieces {
		p := &l.pieces[i]
		if slices.Contains(l.gone, p) {
			continue
		}
		switch d := at(p.dir); p.table {
		case ticks:
			in, err := l.numbers(p)
			if err != nil {
				return nil, err
			}
			d.in = d.in.union(in)
		case samples:
			d.sampled = true
		case hours:
			d.hours = append(d.hours, p)
		case toldTable:
			d.told = append(d.told, p)
		case minutes:
			d.minutes = append(d.minutes, p)
		default:
		}
	}
	for _, log := range logs {
		b := log.rows.blocks[ticks]
		if b.n == 0 {
			continue
		}
		date := datePrefix + DateOf(profile.Instant(b.keys()[0])) // a segment has the ticks of one day only
		d := at(path.Join(date, hostFolder(l.host)))
		d.in, d.open = d.in.union(numbers{log.seq}), true
	}
	var all []day
	for _, d := range byDir {
		date, err := time.Parse(time.DateOnly, strings.TrimPrefix(path.Dir(d.dir), datePrefix))
		if err != nil {
			continue // no folder of this package
		}
		d.begin = profile.InstantOf(date)
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b day) int { return cmp.Compare(a.begin, b.begin) })
	return all, nil
}

// segmentsBefore returns the segments of the day before the day i of all, none where there is no
// such day.
func segmentsBefore(all []day, i int) numbers {
	if i > 0 && all[i-1].begin == all[i].begin-oneDay {
		return all[i-1].in
	}
	return nil
}

// openRollUp opens the file of some, files of one table and day, that was made of just the segments
// of the day; nil where there is none. first is the first instant from which it tells what the
// samples tell: an hour later where the day before it has changed since.
func (l *listing) openRollUp(d *day, before numbers, some []*piece) (o *opened, first profile.Instant, err error) {
	for _, p := range some {
		o, err := l.open(p)
		if isDamage(err) {
			continue // the samples tell the same, and Verify tells of the damage
		}
		if err != nil {
			return nil, 0, err
		}
		if !slices.Equal(o.in, d.in) {
			o.close()
			continue
		}
		// What is known at midnight comes of the day before. Days that are no longer kept were known.
		first = d.begin
		if lead, _ := o.Meta(metaLead); len(before) > 0 && lead != before.String() {
			first += leadTime
		}
		return o, first, nil
	}
	return nil, 0, nil
}
