package billing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

// FocusOptions say how to read a bill.
type FocusOptions struct {
	// Spreadsheet takes what a spreadsheet makes of a bill too: 4/1/25 (month
	// first) for a date, "$50,000.00 " for an amount.
	Spreadsheet bool
	// Currency is the one of the run, where one is known already; another in the
	// bill is an error.
	Currency string
}

// FocusReport says what was read.
type FocusReport struct {
	Version  string   // of FOCUS, by its columns: 1.0, 1.1 or 1.2
	Rows     int64    // rows read
	Currency string   // of every amount
	Assumed  []string // what the bill does not say and was taken for granted
	Unknown  []string // columns that FOCUS does not have, passed over
	Rounded  int64    // rows with a number of more than 18 places
}

// FocusReader reads a bill in FOCUS 1.0, 1.1 or 1.2 as CSV. Columns may come in
// any order; those that are missing and those that say null are unknown.
type FocusReader struct {
	s      *sheet
	o      FocusOptions
	place  []int // of each of focusColumns, -1 is missing
	report FocusReport
	texts  map[string]string // read before
	now    FOCUS             // the row at hand
	tagged map[string]bool   // tags that are JSON
	dates  [4]focusDate      // last texts of the instants
}

// focusDate is an instant as it was last written.
type focusDate struct {
	text string
	at   capcli.Time
}

// mostTexts is how many different texts are kept, not to have each anew.
const mostTexts = 1 << 16

// ReadFOCUS begins to read a bill. name is for messages.
func ReadFOCUS(name string, r io.Reader, o FocusOptions) (*FocusReader, error) {
	s, err := newSheet(name, r)
	if err != nil {
		return nil, err
	}
	return readFOCUS(s, o)
}

// readFOCUS begins to read a bill whose header was read.
func readFOCUS(s *sheet, o FocusOptions) (*FocusReader, error) {
	f := &FocusReader{s: s, o: o, texts: map[string]string{}, tagged: map[string]bool{}}
	f.report.Currency = o.Currency
	var gone []string
	for i := range focusColumns {
		c := &focusColumns[i]
		at := s.col(c.name)
		if at < 0 && c.need {
			gone = append(gone, c.name)
		}
		f.place = append(f.place, at)
	}
	if gone != nil {
		return nil, s.fault("", fmt.Sprintf("this is no FOCUS bill: the header has no column %s", strings.Join(gone, ", ")),
			"expected the columns of FOCUS 1.0 to 1.2 (https://focus.finops.org), such as BilledCost, EffectiveCost, ChargeCategory")
	}
	for i, n := range s.names {
		if at := s.col(n); at != i && n != "" {
			return nil, s.fault(n, "the header has this column twice", "leave one out")
		}
		if !slices.Contains(f.place, i) {
			f.report.Unknown = append(f.report.Unknown, n)
		}
	}
	f.report.Version = focusVersion(s.names)
	return f, nil
}

// Columns are the names of FOCUS's columns that the bill has.
func (f *FocusReader) Columns() []string {
	var names []string
	for i, at := range f.place {
		if at >= 0 {
			names = append(names, focusColumns[i].name)
		}
	}
	return names
}

// Report says what was read so far.
func (f *FocusReader) Report() FocusReport {
	r := f.report
	if r.Currency == "" {
		r.Currency = "USD"
		r.Assumed = append(r.Assumed, "the bill names no BillingCurrency: taken for USD")
	}
	return r
}

// Rows gives the rows of the bill. The row is good until the next one; the first
// thing wrong (a *capcli.InputError) ends them.
func (f *FocusReader) Rows() iter.Seq2[*FOCUS, error] {
	return func(yield func(*FOCUS, error) bool) {
		for {
			ok, err := f.s.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if !ok {
				return
			}
			f.now = newFOCUS()
			if err := f.row(&f.now); err != nil {
				yield(nil, err)
				return
			}
			f.report.Rows++
			if !yield(&f.now, nil) {
				return
			}
		}
	}
}

// row reads the record at hand.
func (f *FocusReader) row(row *FOCUS) error {
	row.Line = f.s.line
	rounded, dates := false, 0
	for i, at := range f.place {
		c := &focusColumns[i]
		date := dates
		if c.time != nil {
			dates++
		}
		if at < 0 {
			continue
		}
		cell := bytes.TrimSpace(f.s.row[at])
		if len(cell) == 0 || len(cell) == 4 && bytes.EqualFold(cell, []byte("null")) {
			continue
		}
		var err error
		switch {
		case c.text != nil:
			*c.text(row), err = f.text(c, cell)
		case c.number != nil:
			var cut bool
			if *c.number(row), cut, err = f.number(cell); cut {
				rounded = true
			}
		default:
			*c.time(row), err = f.instant(&f.dates[date], cell)
		}
		if err != nil {
			return f.wrong(c, cell, err)
		}
	}
	if rounded {
		f.report.Rounded++
	}
	return f.sound(row)
}

// wrong is an error about one field.
func (f *FocusReader) wrong(c *focusColumn, cell []byte, err error) error {
	hint := ""
	if !f.o.Spreadsheet && c.text == nil {
		loose := FocusReader{o: FocusOptions{Spreadsheet: true}}
		var bad error
		if c.number != nil {
			_, _, bad = loose.number(cell)
		} else {
			_, bad = loose.instant(&focusDate{}, cell)
		}
		if bad == nil {
			hint = "a spreadsheet wrote this; --spreadsheet reads it (dates month first)"
		}
	}
	return f.s.fault(c.name, err.Error(), hint)
}

// text reads a text, one of the column's values where it has some.
func (f *FocusReader) text(c *focusColumn, cell []byte) (string, error) {
	s, seen := f.texts[string(cell)]
	if !seen {
		if !utf8.Valid(cell) {
			return "", fmt.Errorf("expected text in UTF-8, found %s", capcli.Quoted(strings.ToValidUTF8(string(cell), "?")))
		}
		if s = string(cell); len(f.texts) < mostTexts {
			f.texts[s] = s
		}
	}
	if c.values == nil || slices.Contains(c.values, s) {
		return s, nil
	}
	for _, v := range c.values { // exports differ in case
		if strings.EqualFold(v, s) {
			return v, nil
		}
	}
	return "", fmt.Errorf("expected %s or null, found %s", strings.Join(c.values, ", "), capcli.Quoted(s))
}

// number reads a number.
func (f *FocusReader) number(cell []byte) (Number, bool, error) {
	if a, ok := plainAmount(cell); ok {
		return numberOf(a), false, nil
	}
	text := string(cell)
	if f.o.Spreadsheet {
		text = plainNumber(text)
	}
	a, rounded, err := parseAmount(text)
	if err != nil {
		return Number{}, false, fmt.Errorf("%s %w", capcli.Quoted(string(cell)), err)
	}
	return numberOf(a), rounded, nil
}

// plainNumber takes the sign of currency and the commas between thousands out
// of an amount; brackets stand for minus.
func plainNumber(text string) string {
	s := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(s, "("); ok && strings.HasSuffix(inner, ")") {
		s = "-" + strings.TrimSuffix(inner, ")")
	}
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	s = strings.TrimPrefix(s, "$")
	whole, frac, point := strings.Cut(s, ".")
	groups := strings.Split(whole, ",")
	for i, g := range groups {
		if len(groups) > 1 && (i > 0 && len(g) != 3 || g == "") {
			return text
		}
	}
	s = sign + strings.Join(groups, "")
	if point {
		s += "." + frac
	}
	return s
}

// instant reads an instant; most rows repeat the one before.
func (f *FocusReader) instant(last *focusDate, cell []byte) (capcli.Time, error) {
	if last.text != "" && last.text == string(cell) {
		return last.at, nil
	}
	text := string(cell)
	at, err := parseFocusTime(text)
	if err != nil && f.o.Spreadsheet {
		for _, layout := range []string{"1/2/06", "1/2/2006"} {
			if t, bad := time.Parse(layout, text); bad == nil {
				at, err = capcli.TimeOf(t), nil
			}
		}
	}
	if err == nil {
		*last = focusDate{text, at}
	}
	return at, err
}

// sound checks what no single field can show.
func (f *FocusReader) sound(row *FOCUS) error {
	switch {
	case row.ChargeCategory == "":
		return f.s.fault("ChargeCategory", "expected Usage, Purchase, Tax, Credit or Adjustment, found nothing", "FOCUS wants it in every row")
	case !row.BilledCost.Known:
		return f.s.fault("BilledCost", "expected an amount, found nothing", "FOCUS wants it in every row; write 0 where nothing is billed")
	case !row.EffectiveCost.Known:
		return f.s.fault("EffectiveCost", "expected an amount, found nothing", "FOCUS wants it in every row; write 0 where nothing is charged")
	case !row.ChargePeriodStart.IsKnown():
		return f.s.fault("ChargePeriodStart", "expected an instant, found nothing", "FOCUS wants it in every row")
	case !row.ChargePeriodEnd.IsKnown():
		return f.s.fault("ChargePeriodEnd", "expected an instant, found nothing", "FOCUS wants it in every row")
	case row.ChargePeriodEnd <= row.ChargePeriodStart:
		return f.s.fault("ChargePeriodEnd", fmt.Sprintf("the charge period ends %s, not after its start %s", row.ChargePeriodEnd, row.ChargePeriodStart),
			"the end is the first instant after the period")
	case !f.soundTags(row.Tags):
		return f.s.fault("Tags", fmt.Sprintf("expected JSON such as {\"team\":\"research\"}, found %s", capcli.Quoted(row.Tags)), "")
	}
	return f.currency(row.BillingCurrency)
}

// soundTags tells whether tags are JSON; most rows have tags that came before.
func (f *FocusReader) soundTags(tags string) bool {
	if tags == "" || f.tagged[tags] {
		return true
	}
	ok := json.Valid([]byte(tags))
	if ok && len(f.tagged) < mostTexts {
		f.tagged[tags] = true
	}
	return ok
}

// currency holds a row to the one currency of the bill.
func (f *FocusReader) currency(c string) error {
	if c == "" || c == f.report.Currency {
		return nil
	}
	if f.report.Currency == "" {
		f.report.Currency = c
		return nil
	}
	return f.s.fault("BillingCurrency", fmt.Sprintf("expected %s as before, found %s", f.report.Currency, capcli.Quoted(c)),
		"one currency per run: cut the bill by currency, for capcli knows no rates of exchange")
}
