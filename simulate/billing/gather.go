package billing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"capcli"
)

// RecordError says what is wrong with a line of a record of use.
type RecordError struct {
	Line  int // index into Lines; -1 where it is the record itself
	Field string
	Text  string
}

func (e *RecordError) Error() string {
	if e.Line < 0 {
		return "use: " + e.Text
	}
	return fmt.Sprintf("use line %d: %s", e.Line+1, e.Text)
}

// Hours gathers the record by clock hour; byJob keeps jobs apart within their
// tenants. A record without a window has that of its lines. It fails with a
// *RecordError.
func (r *UseRecord) Hours(byJob bool) (*Hours, error) {
	for i := range r.Lines {
		if err := r.Lines[i].check(i); err != nil {
			return nil, err
		}
	}
	from, to, err := r.window()
	if err != nil {
		return nil, err
	}
	g, err := gather(from, to, r.Currency)
	if err != nil {
		return nil, &RecordError{Line: -1, Field: "window", Text: err.Error()}
	}
	g.h.byJob = byJob
	prices, err := seriesOf(r.SpotPrices)
	if err != nil {
		return nil, err
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		switch {
		case l.Start < from || l.Start+capcli.Time(l.Seconds) > to:
			return nil, &RecordError{i, "start", fmt.Sprintf("it is not within the window from %s to %s", from, to)}
		case l.Kind == UseSpot:
			err = g.spot(l, prices)
		default:
			err = g.stretch(l.bucket(), g.lineUser(l), l.Units, l.Start, max(l.Seconds, l.Minimum))
		}
		if err != nil {
			return nil, &RecordError{i, "units", err.Error()}
		}
	}
	g.h.lines, g.h.bySecond = r.Lines, true
	return g.Hours()
}

// lineUser is who used a line.
func (g *gatherer) lineUser(l *UseLine) user {
	if g.h.byJob {
		return user{l.Tenant, l.Job}
	}
	return user{l.Tenant, ""}
}

// stretch books units held for some time, cut at clock hours.
func (g *gatherer) stretch(b bucket, u user, units int64, at capcli.Time, length capcli.Seconds) error {
	if length <= 0 || units == 0 {
		return nil
	}
	id, who := g.bucketOf(b), g.userOf(u)
	for length > 0 {
		part := min(length, capcli.Seconds(hourOf(at)+hour-at))
		if err := g.book(id, who, at, capcli.GPUTime(units*int64(part))); err != nil {
			return err
		}
		at += capcli.Time(part)
		length -= part
	}
	return nil
}

// bucket is the bucket of a line that is not spot.
func (l *UseLine) bucket() bucket {
	deal := l.Contracted
	if deal == 0 {
		deal = l.Price
	}
	b := bucket{sku: l.SKU, account: l.Account, kind: l.Kind, capacity: l.Capacity, inside: l.inside, list: l.Price, deal: deal, paid: deal}
	b.sku.OS = osOf(b.sku.OS)
	if l.Kind == UseSpot {
		b.capacity, b.paid = "", min(l.Spot, l.Price)
	}
	return b
}

// check checks one line.
func (l *UseLine) check(i int) error {
	switch {
	case l.Seconds < 0 || l.Seconds > maxHours*capcli.Hour:
		return &RecordError{i, "seconds", fmt.Sprintf("it lasts %d s; expected 0 s to fifty years", l.Seconds)}
	case l.Units < 0 || l.Units > maxUnits:
		return &RecordError{i, "units", fmt.Sprintf("it has %d thousandths of units; expected 0 to %d", l.Units, int64(maxUnits))}
	case l.Minimum < 0 || l.Minimum > 366*capcli.Day:
		return &RecordError{i, "minimum", fmt.Sprintf("its minimum is %d s; expected 0 s to a year", l.Minimum)}
	case l.Price < 0 || l.Contracted < 0 || l.Spot < 0:
		return &RecordError{i, "price", "a price is negative"}
	case l.Kind == UseReserved && l.Capacity == "":
		return &RecordError{i, "capacity", "reserved use must name the commitment that it ran in"}
	case !l.Start.IsKnown() || l.Start > 1<<40 || l.Start < -1<<40:
		return &RecordError{i, "start", "it has no start"}
	}
	return nil
}

// window is that of the record, or of its lines where it states none: whole
// clock hours.
func (r *UseRecord) window() (from, to capcli.Time, err error) {
	switch {
	case r.From != 0 || r.To != 0:
		return r.From, r.To, nil
	case len(r.Lines) == 0:
		return 0, 0, &RecordError{Line: -1, Field: "window", Text: "there is no use and no window"}
	}
	from, to = r.Lines[0].Start, r.Lines[0].Start
	for i := range r.Lines {
		l := &r.Lines[i]
		from, to = min(from, l.Start), max(to, l.Start+capcli.Time(l.Seconds))
	}
	return hourOf(from), hourOf(to+hour-1) + btoh(from == to), nil
}

func btoh(b bool) capcli.Time {
	if b {
		return hour
	}
	return 0
}

// series is the spot prices of each SKU, in order of time.
type series map[SKU][]SpotPrice

func seriesOf(prices []SpotPrice) (series, error) {
	s := series{}
	for _, p := range prices {
		if p.Price < 0 {
			return nil, &RecordError{-1, "spot_prices", "a spot price is negative"}
		}
		s[p.SKU] = append(s[p.SKU], p)
	}
	for _, all := range s {
		slices.SortStableFunc(all, func(a, b SpotPrice) int { return cmp.Compare(a.At, b.At) })
		for i := 1; i < len(all); i++ {
			if all[i].At == all[i-1].At && all[i].Price != all[i-1].Price {
				return nil, &RecordError{-1, "spot_prices", fmt.Sprintf("two spot prices of one SKU at %s", all[i].At)}
			}
		}
	}
	return s, nil
}

// errNoSpotPrice says that nothing prices a spot line.
var errNoSpotPrice = errors.New("no spot price is known for it: give one, or a series that begins before it does")
