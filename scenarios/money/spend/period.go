package spend

import (
	"fmt"
	"time"

	"capcli"
)

// periodsOf returns the periods of a grain that the window touches.
func periodsOf(grain string, from, to capcli.Time) []Period {
	at := dayOf(from).start().Std()
	switch grain {
	case "week":
		at = at.AddDate(0, 0, -(int(at.Weekday())+6)%7)
	case "month":
		at = at.AddDate(0, 0, 1-at.Day())
	}
	var out []Period
	for capcli.TimeOf(at) < to {
		next := nextPeriod(grain, at)
		p := Period{Name: periodName(grain, at), Start: capcli.TimeOf(at), End: capcli.TimeOf(next)}
		p.Whole = p.Start >= from && p.End <= to
		out = append(out, p)
		at = next
	}
	return out
}

// nextPeriod returns the start of the period after the one that starts at t.
func nextPeriod(grain string, t time.Time) time.Time {
	switch grain {
	case "week":
		return t.AddDate(0, 0, 7)
	case "month":
		return t.AddDate(0, 1, 0)
	}
	return t.AddDate(0, 0, 1)
}

// previousPeriod returns the start of the period before the one that starts at t.
func previousPeriod(grain string, t capcli.Time) capcli.Time {
	switch at := t.Std(); grain {
	case "week":
		return capcli.TimeOf(at.AddDate(0, 0, -7))
	case "month":
		return capcli.TimeOf(at.AddDate(0, -1, 0))
	default:
		return capcli.TimeOf(at.AddDate(0, 0, -1))
	}
}

func periodName(grain string, t time.Time) string {
	switch grain {
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case "month":
		return t.Format("2006-01")
	}
	return t.Format(time.DateOnly)
}

// cost returns the cost of a period, and its change.
func (w *watch) cost(s span, p Period) Cost {
	first, end := dayOf(p.Start), dayOf(p.End)
	out := Cost{Cost: s.sum(first, end)}
	now, before, ok := w.alike(first, end, dayOf(previousPeriod(w.Grain, p.Start)))
	if !ok {
		return out
	}
	then := s.sum(before[0], before[1])
	change := s.sum(now[0], now[1]) - then
	out.Change, out.Share = &change, share(change, then)
	return out
}

// alike returns the days of a period, from first to end, that are over, and the days of the period
// before it, which starts on previous, to compare with them: all of it where all of the period is
// over, else as many days, and no more than it has. ok is false where the window lacks one of them.
func (w *watch) alike(first, end, previous day) (now, before [2]day, ok bool) {
	over := min(end, w.whole[1])
	now, before = [2]day{first, over}, [2]day{previous, first}
	if over < end {
		before[1] = min(first, previous+over-first)
	}
	return now, before, over > first && previous >= w.whole[0]
}
