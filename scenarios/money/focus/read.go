package focus

import (
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

// Options say how to read a bill.
type Options struct {
	// Spreadsheet accepts the forms that spreadsheets write as well: 4/1/25 (month first) for a
	// date, "$50,000.00 " for an amount.
	Spreadsheet bool
}

// Report says what was read.
type Report struct {
	Version  string   // version of FOCUS, told by the columns: 1.0, 1.1 or 1.2
	Rows     int64    // rows read
	Currency string   // currency of every amount
	Assumed  []string // assumptions about what the bill does not state
	Unknown  []string // columns that FOCUS does not have; they are ignored
	Rounded  int64    // rows with a number of more than 18 decimals
}

// Reader reads a bill in FOCUS 1.0, 1.1 or 1.2 as CSV. Columns may come in any order. A missing
// column and a null cell leave the field of the row unknown.
type Reader struct {
	s      *capcli.Sheet
	o      Options
	place  []int // index into the header for each of columns; -1 where the column is missing
	report Report
	now    Row         // the current row
	tagged *Memo[bool] // whether a text of tags is valid JSON
	dates  []date      // the last instant read, by column
}

// date is the text of an instant and its value.
type date struct {
	text string
	at   capcli.Time
}

// NewReader returns a reader of the bill in r, after its header. name stands in error messages.
// It fails as ReadSheet does, and where the header cannot be read.
func NewReader(name string, r io.Reader, o Options) (*Reader, error) {
	s, err := capcli.NewSheet(name, r, ",")
	if err != nil {
		return nil, err
	}
	return ReadSheet(s, o)
}

// ReadSheet returns a reader of a bill whose header has been read. It fails where a needed
// column is missing or a column occurs twice.
func ReadSheet(s *capcli.Sheet, o Options) (*Reader, error) {
	f := &Reader{s: s, o: o, tagged: NewMemo(func(tags string) bool { return json.Valid([]byte(tags)) }), dates: make([]date, len(columns))}
	var gone []string
	for i := range columns {
		c := &columns[i]
		at := s.FindColumn(c.name)
		if at < 0 && c.need {
			gone = append(gone, c.name)
		}
		f.place = append(f.place, at)
	}
	if gone != nil {
		return nil, s.Fault("", fmt.Sprintf("this is no FOCUS bill: the header has no column %s", strings.Join(gone, ", ")),
			"expected the columns of FOCUS 1.0 to 1.2 (https://focus.finops.org), such as BilledCost, EffectiveCost, ChargeCategory")
	}
	for i, n := range s.Names {
		if at := s.FindColumn(n); at != i && n != "" {
			return nil, s.Fault(n, "the header has this column twice", "leave one out")
		}
		if !slices.Contains(f.place, i) {
			f.report.Unknown = append(f.report.Unknown, n)
		}
	}
	f.report.Version = version(s.Names)
	return f, nil
}

// Columns returns the names of the FOCUS columns that the bill has.
func (f *Reader) Columns() []string {
	var names []string
	for i, at := range f.place {
		if at >= 0 {
			names = append(names, columns[i].name)
		}
	}
	return names
}

// Report returns the report on the rows read so far.
func (f *Reader) Report() Report {
	r := f.report
	if r.Currency == "" {
		r.Currency = "USD"
		r.Assumed = append(r.Assumed, "the bill names no BillingCurrency: taken for USD")
	}
	return r
}

// Rows returns the rows of the bill. A row is valid until the next one. The first error, such
// as a *capcli.InputError, ends the rows.
func (f *Reader) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for {
			ok, err := f.s.Next()
			if err != nil {
				yield(nil, err)
				return
			}
			if !ok {
				return
			}
			f.now = NewRow()
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

// row reads the current record into row.
func (f *Reader) row(row *Row) error {
	row.Line = f.s.Line
	rounded := false
	for i, at := range f.place {
		cell := f.s.Value(at)
		if cell == nil {
			continue
		}
		var err error
		c, cut := &columns[i], false
		switch v := c.cell(row).(type) {
		case *string:
			*v, err = f.text(c, cell)
		case *Number:
			*v, cut, err = f.number(cell)
			rounded = rounded || cut
		case *capcli.Time:
			*v, err = f.instant(&f.dates[i], cell)
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

// wrong returns an error about one field of the current record. It hints at Spreadsheet where
// that would read the field.
func (f *Reader) wrong(c *column, cell []byte, err error) error {
	hint := ""
	loose, bad := Reader{o: Options{Spreadsheet: true}}, err
	switch c.cell(&f.now).(type) {
	case *Number:
		_, _, bad = loose.number(cell)
	case *capcli.Time:
		_, bad = loose.instant(&date{}, cell)
	}
	if !f.o.Spreadsheet && bad == nil {
		hint = "a spreadsheet wrote this; --spreadsheet reads it (dates month first)"
	}
	return f.s.Fault(c.name, err.Error(), hint)
}

// text returns a cell as a text. Where the column has a list of values, the text must be one of
// them in any case of letters.
func (f *Reader) text(c *column, cell []byte) (string, error) {
	s, seen := f.s.KnownText(cell)
	if !seen {
		if !utf8.Valid(cell) {
			return "", fmt.Errorf("expected text in UTF-8, found %s", capcli.Quoted(strings.ToValidUTF8(string(cell), "?")))
		}
		s = f.s.Intern(cell)
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

// number returns a cell as a number; its second result reports that the number was rounded.
func (f *Reader) number(cell []byte) (Number, bool, error) {
	if a, ok := plainAmount(cell); ok {
		return NumberOf(a), false, nil
	}
	text := string(cell)
	if f.o.Spreadsheet {
		text = plainNumber(text)
	}
	a, rounded, err := ParseAmount(text)
	if err != nil {
		return Number{}, false, fmt.Errorf("%s %w", capcli.Quoted(string(cell)), err)
	}
	return NumberOf(a), rounded, nil
}

// plainNumber removes the currency sign and the thousands separators from an amount and turns
// brackets into a minus sign. It returns the text unchanged where the separators are misplaced.
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

// instant returns a cell as an instant. It keeps the last one, since most rows repeat it.
func (f *Reader) instant(last *date, cell []byte) (capcli.Time, error) {
	if last.text != "" && last.text == string(cell) {
		return last.at, nil
	}
	text := string(cell)
	at := ParseInstant(text, time.RFC3339)
	if !at.IsKnown() && f.o.Spreadsheet {
		at = ParseInstant(text, "1/2/06", "1/2/2006")
	}
	if !at.IsKnown() {
		return at, fmt.Errorf("expected %s, found %s", WantInstant, capcli.Quoted(text))
	}
	*last = date{text, at}
	return at, nil
}

// sound checks that the row has what FOCUS wants in every row, that its charge period is not
// empty, that its tags are JSON, and that its currency is that of the bill.
func (f *Reader) sound(row *Row) error {
	switch {
	case row.ChargeCategory == "":
		return f.s.Fault("ChargeCategory", "expected Usage, Purchase, Tax, Credit or Adjustment, found nothing", "FOCUS wants it in every row")
	case !row.BilledCost.Known:
		return f.s.Fault("BilledCost", "expected an amount, found nothing", "FOCUS wants it in every row; write 0 where nothing is billed")
	case !row.EffectiveCost.Known:
		return f.s.Fault("EffectiveCost", "expected an amount, found nothing", "FOCUS wants it in every row; write 0 where nothing is charged")
	case !row.ChargePeriodStart.IsKnown():
		return f.s.Fault("ChargePeriodStart", "expected an instant, found nothing", "FOCUS wants it in every row")
	case !row.ChargePeriodEnd.IsKnown():
		return f.s.Fault("ChargePeriodEnd", "expected an instant, found nothing", "FOCUS wants it in every row")
	case row.ChargePeriodEnd <= row.ChargePeriodStart:
		return f.s.Fault("ChargePeriodEnd", fmt.Sprintf("the charge period ends %s, not after its start %s", row.ChargePeriodEnd, row.ChargePeriodStart),
			"the end is the first instant after the period")
	case row.Tags != "" && !f.tagged.Find(row.Tags):
		return f.s.Fault("Tags", fmt.Sprintf("expected JSON such as {\"team\":\"research\"}, found %s", capcli.Quoted(row.Tags)), "")
	}
	return f.currency(row.BillingCurrency)
}

// currency checks that a row has the currency of the rows before it.
func (f *Reader) currency(c string) error {
	if c == "" || c == f.report.Currency {
		return nil
	}
	if f.report.Currency == "" {
		f.report.Currency = c
		return nil
	}
	return f.s.Fault("BillingCurrency", fmt.Sprintf("expected %s as before, found %s", f.report.Currency, capcli.Quoted(c)),
		"one currency per run: cut the bill by currency, for capcli knows no rates of exchange")
}

// mostTexts is the most distinct texts that a Memo keeps.
const mostTexts = 1 << 16

// Memo caches the results of a function of a text, for up to mostTexts texts.
type Memo[V any] struct {
	of    func(text string) V
	known map[string]V
}

// NewMemo returns an empty cache of the results of a function.
func NewMemo[V any](of func(text string) V) *Memo[V] { return &Memo[V]{of, map[string]V{}} }

// Find returns the function's result for a text.
func (m *Memo[V]) Find(text string) V {
	v, ok := m.known[text]
	if !ok {
		if v = m.of(text); len(m.known) < mostTexts {
			m.known[text] = v
		}
	}
	return v
}

// WantInstant describes an instant, for error messages.
const WantInstant = "an instant such as 2027-01-01T00:00:00Z"

// ParseInstant parses an instant in the first of layouts that fits. It returns capcli.NoTime
// where none fits.
func ParseInstant(text string, layouts ...string) capcli.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return capcli.TimeOf(t)
		}
	}
	return capcli.NoTime
}
