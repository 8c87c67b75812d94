package billing

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

// useColumns are the columns of metered use, each with the names it may have.
var useColumns = [...]struct {
	names []string
	doc   string
}{
	{[]string{"start"}, "when it began: 2027-01-01T00:00:00Z, or seconds since 1970"},
	{[]string{"end"}, "when it ended, if seconds are not given"},
	{[]string{"seconds", "run_s", "duration_s"}, "how long it lasted"},
	{[]string{"units", "gpus", "instances"}, "how many units at once, up to three decimals; 1 where left out"},
	{[]string{"instance_type", "sku"}, "p5.48xlarge: family and size"},
	{[]string{"gpu_model"}, "H100"},
	{[]string{"provider"}, "aws, azure, gcp"},
	{[]string{"region"}, ""},
	{[]string{"zone"}, ""},
	{[]string{"service"}, "what savings plans sort by: ec2, fargate"},
	{[]string{"os"}, "linux where left out"},
	{[]string{"tenant", "team"}, "who used it"},
	{[]string{"account"}, "who is billed"},
	{[]string{"job", "job_id"}, ""},
	{[]string{"class"}, "what kind of job it is, for the cost of each: training"},
	{[]string{"kind"}, "on_demand (where left out), spot or reserved"},
	{[]string{"price", "on_demand_price"}, "public on-demand price of a unit for an hour"},
	{[]string{"contracted_price"}, "negotiated on-demand price"},
	{[]string{"spot_price"}, "spot price of a unit for an hour"},
	{[]string{"capacity"}, "id of the commitment or capacity reservation that it ran in"},
	{[]string{"min_billing_s"}, "least time billed; 60 on aws, azure and gcp where left out, else 0"},
	{[]string{"ended_by"}, "user (where left out) or provider: a spot interruption"},
	{[]string{"currency"}, "USD where left out; one for the whole file"},
}

// The places of useColumns.
const (
	useStart = iota
	useEnd
	useSeconds
	useUnits
	useInstance
	useModel
	useProvider
	useRegion
	useZone
	useService
	useOS
	useTenant
	useAccount
	useJob
	useClass
	useKind
	usePrice
	useContracted
	useSpot
	useCapacity
	useMinimum
	useEnded
	useCurrency
	numUseColumns
)

// allUseColumns gives each column of a file of metered use and a line about it.
func allUseColumns() [][2]string {
	out := make([][2]string, len(useColumns))
	for i, c := range useColumns {
		out[i] = [2]string{c.names[0], c.doc}
	}
	return out
}

// maxUseLines is how many stretches of use a file may hold.
const maxUseLines = 10_000_000

// UseOptions say how to read metered use.
type UseOptions struct {
	// Price is the on-demand price of a unit-hour where a line states none; 0 is
	// none, and then each line must.
	Price capcli.Rate
	// Tag is the key of the FOCUS tag that names the tenant; "" is the first of
	// tenant, team and project that a row has.
	Tag string
	// Spreadsheet is that of FocusOptions.
	Spreadsheet bool
}

// UseReport says what was read.
type UseReport struct {
	Format  string            // use or FOCUS
	Rows    int64             // of the file
	Lines   int64             // stretches of use in the record
	Notes   []string          // what was left out or taken for granted
	Paid    Amount            // FOCUS: what the bill charges for the use that was taken (EffectiveCost), and for what went unused
	Unknown []string          // columns that mean nothing here
	Classes map[string]string // job: class, where lines say so
}

// useReader reads metered use.
type useReader struct {
	s     *sheet
	o     UseOptions
	place [numUseColumns]int
	texts map[string]string
	rec   *UseRecord
	short int64 // lines that are shorter than their provider bills at least
}

// ReadUse reads metered use as CSV: capcli's own columns (UseColumns), or a bill
// in FOCUS, told by its header. The window is that of the lines, widened to
// whole clock hours. The first thing wrong, a *capcli.InputError, ends it.
func ReadUse(name string, r io.Reader, o UseOptions) (*UseRecord, *UseReport, error) {
	s, err := newSheet(name, r)
	if err != nil {
		return nil, nil, err
	}
	if s.col("ChargePeriodStart") >= 0 {
		return readFocusUse(s, o)
	}
	u := &useReader{s: s, o: o, texts: map[string]string{}, rec: &UseRecord{}}
	rep := &UseReport{Format: "use", Classes: map[string]string{}}
	if err := u.header(rep); err != nil {
		return nil, nil, err
	}
	if u.place[useStart] < 0 || u.place[useEnd] < 0 && u.place[useSeconds] < 0 {
		return nil, nil, s.fault("", fmt.Sprintf("expected the columns start and seconds (or end), found %s", capcli.Quoted(strings.Join(s.names, ","))),
			"columns of use: start,seconds,units,instance_type,gpu_model,region,tenant,price (capcli bill --help), or a bill in FOCUS")
	}
	for {
		ok, err := s.next()
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			break
		}
		rep.Rows++
		line, err := u.line()
		if err != nil {
			return nil, nil, err
		}
		if class := u.cell(useClass); class != "" && line.Job != "" {
			rep.Classes[line.Job] = class
		}
		if u.rec.Lines = append(u.rec.Lines, line); len(u.rec.Lines) > maxUseLines {
			return nil, nil, s.fault("", fmt.Sprintf("over %d lines of use", maxUseLines), "price it in parts")
		}
	}
	if len(u.rec.Lines) == 0 {
		return nil, nil, s.fault("", "no use: there is only a header", "")
	}
	if u.place[useUnits] < 0 {
		rep.Notes = append(rep.Notes, "there is no column units: each line is 1 unit")
	}
	if u.short > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("%d lines last less than their provider bills at least (60 s on aws, azure and gcp) and are billed for that; the column min_billing_s states another least time, 0 for none", u.short))
	}
	u.rec.span()
	rep.Lines = int64(len(u.rec.Lines))
	rep.noteUnknown()
	return u.rec, rep, nil
}

// noteUnknown notes the columns that mean nothing.
func (r *UseReport) noteUnknown() {
	if len(r.Unknown) > 0 {
		r.Notes = append(r.Notes, "columns that mean nothing here, and were passed over: "+strings.Join(r.Unknown, ", "))
	}
}

// header finds the place of each column. One that means nothing is reported, and
// one whose name stands twice is refused.
func (u *useReader) header(rep *UseReport) error {
	names := u.s.names
	used := make([]bool, len(names))
	for i, c := range useColumns {
		if u.place[i] = u.s.col(c.names...); u.place[i] >= 0 {
			used[u.place[i]] = true
		}
	}
	for i, n := range names {
		if used[i] {
			continue
		}
		if at := slices.Index(names, n); at != i && used[at] {
			return u.s.fault(n, "two columns have this name", "leave one of them out")
		}
		rep.Unknown = append(rep.Unknown, n)
	}
	return nil
}

// span sets the window to whole clock hours around all lines.
func (r *UseRecord) span() {
	r.From, r.To = r.Lines[0].Start, r.Lines[0].Start
	for i := range r.Lines {
		l := &r.Lines[i]
		r.From, r.To = min(r.From, l.Start), max(r.To, l.Start+capcli.Time(max(l.Seconds, l.Minimum)))
	}
	const hour = capcli.Time(capcli.Hour)
	r.From -= (r.From%hour + hour) % hour
	r.To += (hour - r.To%hour) % hour
}

// cell is the text in a column, "" where there is none.
func (u *useReader) cell(c int) string {
	at := u.place[c]
	if at < 0 {
		return ""
	}
	b := bytes.TrimSpace(u.s.row[at])
	if len(b) == 0 || len(b) == 4 && bytes.EqualFold(b, []byte("null")) {
		return ""
	}
	return intern(u.texts, b)
}

// intern gives one string for equal bytes, as long as there are not too many.
func intern(texts map[string]string, b []byte) string {
	if s, ok := texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(texts) < mostTexts {
		texts[s] = s
	}
	return s
}

// fault is an error in a column of the line at hand.
func (u *useReader) fault(c int, text, hint string) error {
	return u.s.fault(useColumns[c].names[0], text, hint)
}

// line reads the record at hand.
func (u *useReader) line() (UseLine, error) {
	l := UseLine{
		SKU: SKU{
			Provider: u.cell(useProvider), Region: u.cell(useRegion), Zone: u.cell(useZone),
			GPUModel: u.cell(useModel), Service: u.cell(useService), OS: strings.ToLower(u.cell(useOS)),
		},
		Capacity: u.cell(useCapacity), Account: u.cell(useAccount), Tenant: u.cell(useTenant), Job: u.cell(useJob),
	}
	l.SKU.Family, l.SKU.Size = CutInstanceType(u.cell(useInstance))
	for _, text := range []string{l.SKU.Region, l.SKU.Family, l.SKU.GPUModel, l.Tenant, l.Account, l.Job} {
		if !utf8.ValidString(text) {
			return l, u.s.fault("", fmt.Sprintf("expected text in UTF-8, found %s", capcli.Quoted(strings.ToValidUTF8(text, "?"))), "")
		}
	}
	if err := u.times(&l); err != nil {
		return l, err
	}
	if err := u.kind(&l); err != nil {
		return l, err
	}
	if u.cell(useMinimum) == "" {
		if l.Minimum = minimumOf(&l.SKU, l.Kind); l.Seconds < l.Minimum {
			u.short++
		}
	}
	return l, u.prices(&l)
}

// CutInstanceType cuts p5.48xlarge into family and size; a name without a point
// is all family.
func CutInstanceType(text string) (family, size string) {
	family, size, _ = strings.Cut(text, ".")
	return family, size
}

// times reads when, how long and how much.
func (u *useReader) times(l *UseLine) (err error) {
	if l.Start, err = u.instant(useStart); err != nil {
		return err
	}
	if text := u.cell(useSeconds); text != "" || u.cell(useEnd) == "" {
		if l.Seconds, err = u.seconds(useSeconds, 1); err != nil {
			return err
		}
	} else {
		end, err := u.instant(useEnd)
		if err != nil {
			return err
		}
		if end <= l.Start {
			return u.fault(useEnd, fmt.Sprintf("the end %s is not after the start %s", end, l.Start), "")
		}
		l.Seconds = capcli.Seconds(end - l.Start)
	}
	if u.cell(useMinimum) != "" {
		if l.Minimum, err = u.seconds(useMinimum, 0); err != nil {
			return err
		}
	}
	text := u.cell(useUnits)
	if text == "" {
		if u.place[useUnits] >= 0 {
			return u.fault(useUnits, "expected a number of units, found nothing", "")
		}
		text = "1"
	}
	if l.Units, err = thousandths(text); err != nil {
		return u.fault(useUnits, err.Error(), "")
	}
	return nil
}

// maxUseUnits is the largest number of units at once.
const maxUseUnits = 1_000_000_000

// thousandths reads a number above 0 with at most three decimals.
func thousandths(text string) (int64, error) {
	a, _, err := parseAmount(text)
	if err != nil {
		return 0, fmt.Errorf("%s %w", capcli.Quoted(text), err)
	}
	milli, err := a.USD() // in millionths
	switch {
	case err != nil || milli > maxUseUnits*capcli.Dollar:
		return 0, fmt.Errorf("%s is more than a billion", capcli.Quoted(text))
	case milli <= 0:
		return 0, fmt.Errorf("expected more than 0, found %s", capcli.Quoted(text))
	case milli%1000 != 0 || AmountOf(milli) != a:
		return 0, fmt.Errorf("%s has more than three decimals", capcli.Quoted(text))
	}
	return int64(milli / 1000), nil
}

// farthest is the last instant that is believed, year 9999.
const farthest = capcli.Time(253402300799)

func (u *useReader) instant(c int) (capcli.Time, error) {
	text := u.cell(c)
	at := capcli.NoTime
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at = capcli.Time(n)
	} else if t, err := time.Parse(time.RFC3339, text); err == nil {
		at = capcli.TimeOf(t)
	}
	if at < 0 || at > farthest {
		hint := ""
		if _, err := time.Parse(time.DateTime, strings.Replace(text, "T", " ", 1)); err == nil {
			hint = "it states no zone; for UTC write a Z behind it"
		}
		return at, u.fault(c, fmt.Sprintf("expected an instant such as 2027-01-01T00:00:00Z, found %s", capcli.Quoted(text)), hint)
	}
	return at, nil
}

// longestUse is the longest stretch of use: fifty years.
const longestUse = 50 * 366 * capcli.Day

func (u *useReader) seconds(c int, least capcli.Seconds) (capcli.Seconds, error) {
	text := u.cell(c)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || capcli.Seconds(n) < least || capcli.Seconds(n) > longestUse {
		return 0, u.fault(c, fmt.Sprintf("expected whole seconds from %d to fifty years, found %s", least, capcli.Quoted(text)), "")
	}
	return capcli.Seconds(n), nil
}

// kind reads how it was had and who ended it.
func (u *useReader) kind(l *UseLine) error {
	switch text := u.cell(useKind); text {
	case "", "on_demand":
	case "spot":
		l.Kind = UseSpot
	case "reserved":
		l.Kind = UseReserved
		if l.Capacity == "" {
			return u.fault(useCapacity, "reserved use names no capacity", "say in the column capacity which commitment of the portfolio it ran in")
		}
	default:
		return u.fault(useKind, fmt.Sprintf("expected on_demand, spot or reserved, found %s", capcli.Quoted(text)), nearHint(text, useKindNames[:]))
	}
	switch text := u.cell(useEnded); text {
	case "", "user":
	case "provider":
		l.Ended = EndedByProvider
	default:
		return u.fault(useEnded, fmt.Sprintf("expected user or provider, found %s", capcli.Quoted(text)), "")
	}
	c := u.cell(useCurrency)
	switch {
	case c == "" || c == u.rec.Currency:
	case u.rec.Currency == "" && len(u.rec.Lines) == 0:
		u.rec.Currency = c
	default:
		return u.fault(useCurrency, fmt.Sprintf("expected %s as before, found %s", currencyName(u.rec.Currency), capcli.Quoted(c)),
			"one currency per run: capcli knows no rates of exchange")
	}
	return nil
}

func currencyName(c string) string {
	if c == "" {
		return "USD"
	}
	return c
}

func nearHint(text string, names []string) string {
	if near := capcli.Nearest(text, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// prices reads what a unit-hour costs.
func (u *useReader) prices(l *UseLine) error {
	for _, x := range []struct {
		c  int
		to *capcli.Rate
	}{{usePrice, &l.Price}, {useContracted, &l.Contracted}, {useSpot, &l.Spot}} {
		text := u.cell(x.c)
		if text == "" {
			continue
		}
		p, err := capcli.ParseUSD(text)
		if err != nil || p <= 0 {
			return u.fault(x.c, fmt.Sprintf("expected a price of a unit-hour above 0 with at most six decimals, such as 2.10, found %s", capcli.Quoted(text)), "leave it out where it is not known")
		}
		*x.to = p
	}
	if l.Price == 0 {
		l.Price = u.o.Price
	}
	if l.Price == 0 && l.Kind != UseReserved {
		return u.fault(usePrice, "expected the on-demand price of a unit-hour, found nothing", "fill in the column price, or give one for all lines with --on-demand")
	}
	if l.Seconds > 0 && l.Units > math.MaxInt64/int64(l.Seconds) {
		return u.fault(useUnits, "so many units for so long are more than can be counted", "")
	}
	return nil
}
