package series

import (
	"fmt"
	"slices"
	"time"

	"capcli"
)

// step finds the distance that the stamps of all series share: the one that
// comes most often, when all others are whole multiples of it. Months and days
// of a calendar are tried where no fixed length fits.
func (t *Table) step(zone *time.Location) (step, error) {
	if t.Stamp == None {
		return step{stamps: 1}, nil
	}
	counts := map[int64]int{}
	t.eachGap(func(_ *Raw, _, _ Row, gap int64) bool { counts[gap]++; return true })
	if len(counts) == 0 { // single values: any step will do
		return step{stamps: 1, times: capcli.Step{Days: 1}}, nil
	}
	usual := mode(counts)
	fits := true
	for gap := range counts {
		fits = fits && gap%usual == 0
	}
	if t.Stamp == Index {
		if !fits {
			return step{}, t.mixed(fmt.Sprint(usual), zone, func(_, _ Row, gap int64) bool { return gap%usual == 0 })
		}
		return step{stamps: usual}, nil
	}
	if usual >= 20*int64(capcli.Day) { // before fixed: thirty days are no month
		if s, ok := t.months(zone); ok {
			return s, nil
		}
	}
	if usual >= 20*int64(capcli.Hour) {
		if s, ok := t.days(zone); ok {
			return s, nil
		}
	}
	if !fits {
		return step{}, t.mixed(capcli.Step{Seconds: capcli.Seconds(usual)}.String(), zone, func(_, _ Row, gap int64) bool { return gap%usual == 0 })
	}
	return step{times: capcli.Step{Seconds: capcli.Seconds(usual)}}, nil
}

// mode is the gap that comes most often, of several the shortest.
func mode(counts map[int64]int) int64 {
	best, n := int64(0), 0
	for gap, c := range counts {
		if c > n || c == n && gap < best {
			best, n = gap, c
		}
	}
	return best
}

// eachGap gives each pair of neighbours with different stamps.
func (t *Table) eachGap(do func(s *Raw, a, b Row, gap int64) bool) {
	for i := range t.Series {
		rows := t.Series[i].Rows
		for k := 1; k < len(rows); k++ {
			if gap := rows[k].At - rows[k-1].At; gap != 0 && !do(&t.Series[i], rows[k-1], rows[k], gap) {
				return
			}
		}
	}
}

func (t *Table) mixed(usual string, zone *time.Location, fits func(a, b Row, gap int64) bool) error {
	n, all := 0, 0
	var first *Row
	name := ""
	t.eachGap(func(s *Raw, a, b Row, gap int64) bool {
		if all++; !fits(a, b, gap) {
			if n++; first == nil {
				row := b
				first, name = &row, s.Name
			}
		}
		return true
	})
	hint := "combine them into equal steps: --step 1h, 1d or 1w with --agg mean, sum or max"
	if t.Stamp == Index {
		hint = "number the rows evenly, or give times"
	}
	return t.fault(first.Line, "ds", fmt.Sprintf("the steps are mixed: %s of %s are not a multiple of %s, the first in %s at %s", capcli.Grouped(int64(n)), capcli.Grouped(int64(all)), usual, name, t.Text(first.At, zone)), hint)
}

// civil is a stamp by the clocks of zone.
func civil(at int64, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return time.Unix(at, 0).In(zone)
}

// months tells whether all stamps of each series lie on one day of the month, or
// on its last, at one time of day.
func (t *Table) months(zone *time.Location) (step, bool) {
	counts := map[int64]int{}
	same, ends := true, true
	for i := range t.Series {
		rows := t.Series[i].Rows
		first := civil(rows[0].At, zone)
		was := first
		for k, row := range rows {
			at := civil(row.At, zone)
			h, m, s := at.Clock()
			if fh, fm, fs := first.Clock(); h != fh || m != fm || s != fs {
				return step{}, false
			}
			same = same && at.Day() == first.Day()
			ends = ends && at.AddDate(0, 0, 1).Day() == 1
			if !same && !ends {
				return step{}, false
			}
			if gap := int64(at.Year()-was.Year())*12 + int64(at.Month()-was.Month()); k > 0 && gap != 0 {
				counts[gap]++
			}
			was = at
		}
	}
	if len(counts) == 0 {
		return step{}, false
	}
	usual := mode(counts)
	for gap := range counts {
		if gap%usual != 0 {
			usual = 1
		}
	}
	return step{times: capcli.Step{Months: int(usual)}, monthEnd: !same}, true
}

// days tells whether all stamps of each series lie at one time of day, whole
// days apart.
func (t *Table) days(zone *time.Location) (step, bool) {
	counts := map[int64]int{}
	for i := range t.Series {
		rows := t.Series[i].Rows
		days := make([]int64, len(rows))
		fh, fm, fs := civil(rows[0].At, zone).Clock()
		for k, row := range rows {
			at := civil(row.At, zone)
			if h, m, s := at.Clock(); h != fh || m != fm || s != fs {
				return step{}, false
			}
			y, mo, d := at.Date()
			days[k] = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
		}
		for k := 1; k < len(days); k++ {
			if gap := days[k] - days[k-1]; gap != 0 {
				counts[gap]++
			}
		}
	}
	if len(counts) == 0 {
		return step{}, false
	}
	usual := mode(counts)
	gaps := make([]int64, 0, len(counts))
	for gap := range counts {
		gaps = append(gaps, gap)
	}
	if slices.ContainsFunc(gaps, func(gap int64) bool { return gap%usual != 0 }) {
		return step{}, false // mixed, and the caller says where
	}
	return step{times: capcli.Step{Days: int(usual)}}, true
}
