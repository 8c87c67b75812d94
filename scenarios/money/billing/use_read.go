package billing

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
	"capcli/scenarios/money/focus"
)

// The columns of metered use.
const (
	useStart      = iota // start: 2027-01-01T00:00:00Z, or seconds since 1970
	useEnd               // end, where seconds are not given
	useSeconds           // duration in seconds
	useUnits             // units at once, with up to three decimals; 1 where there is no such column
	useInstance          // p5.48xlarge: family and size
	useModel             // H100
	useProvider          // aws, azure, gcp
	useRegion            // region of the provider
	useZone              // availability zone
	useService           // service in a savings plan's rate table: ec2, fargate
	useOS                // linux where left out
	useTenant            // tenant that used it
	useAccount           // account that is billed
	useJob               // job that used it
	useClass             // class of the job, for the cost of each class: training
	useKind              // on_demand (where left out), spot or reserved
	usePrice             // public on-demand price of a unit for an hour
	useContracted        // negotiated on-demand price
	useSpot              // spot price of a unit for an hour
	useCapacity          // ID of the commitment or capacity reservation that it ran in
	useMinimum           // minimum billing time in seconds; minimumOf where left out
	useEnded             // user (where left out) or provider: a spot interruption
	useCurrency          // USD where left out; the same in the whole file
)

// useColumns are the names that each column of metered use may have.
var useColumns = [...][]string{
	useStart: {"start"}, useEnd: {"end"}, useSeconds: {"seconds", "run_s", "duration_s"}, useUnits: {"units", "gpus", "instances"},
	useInstance: {"instance_type", "sku"}, useModel: {"gpu_model"}, useProvider: {"provider"}, useRegion: {"region"}, useZone: {"zone"},
	useService: {"service"}, useOS: {"os"}, useTenant: {"tenant", "team"}, useAccount: {"account"}, useJob: {"job", "job_id"}, useClass: {"class"},
	useKind: {"kind"}, usePrice: {"price", "on_demand_price"}, useContracted: {"contracted_price"}, useSpot: {"spot_price"},
	useCapacity: {"capacity"}, useMinimum: {"min_billing_s"}, useEnded: {"ended_by"}, useCurrency: {"currency"},
}

// maxUseLines is the most lines of use in a file.
const maxUseLines = 10_000_000

// UseOptions say how to read metered use.
type UseOptions struct {
	// Price is the on-demand price of a unit-hour where a line states none; 0 means that each
	// line must state one.
	Price capcli.Rate
	// Tag is the key of the FOCUS tag that names the tenant; "" means the first of tenant, team
	// and project that a row has.
	Tag string
	// By names what the lines are to be grouped by: each becomes a tag of UseLine.Tags. A name is
	// that of a column tag_NAME, tag:NAME or NAME, or the key of a FOCUS tag; or tenant, account
	// or, in capcli's own columns, class.
	By []string
	// Rows, unless nil, is given every row of a bill in FOCUS with its tags, in place of the record,
	// which has no lines then: for the costs as they were billed.
	Rows func(r *focus.Row, tags *capcli.Tags) error
	// Spreadsheet is that of focus.Options.
	Spreadsheet bool
}

// UseReport says what was read.
type UseReport struct {
	Format  string            // "use" or "FOCUS"
	Rows    int64             // rows of the file
	Lines   int64             // stretches of use in the record
	Notes   []string          // what was left out or assumed
	Paid    focus.Amount      // FOCUS: EffectiveCost of the use that was read and of unused parts
	Unknown []string          // columns that are not known; they are ignored
	Classes map[string]string // class by job, where lines state it
}

// useReader reads metered use in capcli's own columns.
type useReader struct {
	*capcli.Sheet
	o     UseOptions
	place [len(useColumns)]int // index into the header for each column; -1 where it is missing
	by    []int                // index into the header for each name of UseOptions.By
	tags  *tagger
	rec   *UseRecord
	short int64 // lines shorter than the minimum billing time of their provider
}

// newUseReader returns a reader that has found the place of each column.
func newUseReader(s *capcli.Sheet, o UseOptions) *useReader {
	u := &useReader{Sheet: s, o: o, tags: newTagger(o.By), rec: &UseRecord{}}
	for i, names := range useColumns {
		u.place[i] = s.FindColumn(names...)
	}
	return u
}

// ReadUse reads metered use as CSV: capcli's own columns, or a bill in FOCUS, recognised by its
// header. The window is that of the lines with their minimum billing times, widened to whole
// clock hours. It fails with a *capcli.InputError at the first fault.
func ReadUse(name string, r io.Reader, o UseOptions) (*UseRecord, *UseReport, error) {
	s, err := capcli.NewSheet(name, r, ",")
	if err != nil {
		return nil, nil, err
	}
	if s.FindColumn("ChargePeriodStart") >= 0 {
		return readFocusUse(s, o)
	}
	u := newUseReader(s, o)
	if u.by, err = u.tagColumns(); err != nil {
		return nil, nil, err
	}
	rep := &UseReport{Format: "use", Classes: map[string]string{}}
	if err := u.checkHeader(rep); err != nil {
		return nil, nil, err
	}
	err = u.EachRow(func() error {
		rep.Rows++
		line, err := u.line()
		if err != nil {
			return err
		}
		if class := u.text(useClass); class != "" && line.Job != "" {
			rep.Classes[line.Job] = class
		}
		return u.rec.addLine(s, &line)
	})
	if err != nil {
		return nil, nil, err
	}
	if len(u.rec.Lines) == 0 {
		return nil, nil, s.Fault("", "no use: there is only a header", "")
	}
	if u.place[useUnits] < 0 {
		rep.Notes = append(rep.Notes, "there is no column units: each line is 1 unit")
	}
	rep.Notes = append(rep.Notes, u.tags.notes()...)
	if u.short > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("%d lines last less than their provider bills at least (60 s on aws, azure and gcp) and are billed for that; the column min_billing_s states another least time, 0 for none", u.short))
	}
	rep.conclude(u.rec)
	return u.rec, rep, nil
}

// addLine adds a line. It fails where there are more than maxUseLines.
func (r *UseRecord) addLine(s *capcli.Sheet, l *UseLine) error {
	if r.Lines = append(r.Lines, *l); len(r.Lines) > maxUseLines {
		return s.Fault("", fmt.Sprintf("over %d lines of use", maxUseLines), "price it in parts")
	}
	return nil
}

// span sets the window to the whole clock hours around all lines and their minimum billing
// times.
func (r *UseRecord) span() {
	r.From, r.To = r.Lines[0].Start, r.Lines[0].Start
	for i := range r.Lines {
		l := &r.Lines[i]
		r.From, r.To = min(r.From, l.Start), max(r.To, l.Start+capcli.Time(max(l.Seconds, l.Minimum)))
	}
	r.From, r.To = hourOf(r.From), hourOf(r.To+hour-1)
}

// conclude sets the record's window, counts its lines, and notes the unknown columns.
func (r *UseReport) conclude(rec *UseRecord) {
	if len(rec.Lines) > 0 {
		rec.span()
	}
	r.Lines = int64(len(rec.Lines))
	if len(r.Unknown) > 0 {
		r.Notes = append(r.Notes, "columns that mean nothing here, and were passed over: "+strings.Join(r.Unknown, ", "))
	}
}

// checkHeader fails for a header without a start and a length, or with a column twice. It
// reports the unknown columns.
func (u *useReader) checkHeader(rep *UseReport) error {
	for i, n := range u.Names {
		if slices.Contains(u.place[:], i) || slices.Contains(u.by, i) {
			continue
		}
		if at := slices.Index(u.Names, n); at != i && slices.Contains(u.place[:], at) {
			return u.Fault(n, "two columns have this name", "leave one of them out")
		}
		rep.Unknown = append(rep.Unknown, n)
	}
	if u.place[useStart] < 0 || u.place[useEnd] < 0 && u.place[useSeconds] < 0 {
		return u.Fault("", "expected the columns start and seconds (or end), found "+u.QuotedNames(),
			"columns of use: start,seconds,units,instance_type,gpu_model,region,tenant,price (capcli bill --help), or a bill in FOCUS")
	}
	return nil
}

// text returns the cell of a column in the current record, "" where there is none.
func (u *useReader) text(c int) string { return u.Cell(u.place[c]) }

// fault returns an error about a column of the current record.
func (u *useReader) fault(c int, text, hint string) error {
	return u.Fault(useColumns[c][0], text, hint)
}

// unwanted returns an error about a column of the current record: what was expected and what
// was found.
func (u *useReader) unwanted(c int, want, found, hint string) error {
	return u.FaultUnwanted(useColumns[c][0], want, found, hint)
}

// sku returns the SKU of the current record.
func (u *useReader) sku() SKU {
	k := SKU{
		Provider: u.text(useProvider), Region: u.text(useRegion), Zone: u.text(useZone),
		GPUModel: u.text(useModel), Service: u.text(useService), OS: strings.ToLower(u.text(useOS)),
	}
	k.Family, k.Size = CutInstanceType(u.text(useInstance))
	return k
}

// line returns the line of use of the current record.
func (u *useReader) line() (UseLine, error) {
	l := UseLine{SKU: u.sku(), Capacity: u.text(useCapacity), Account: u.text(useAccount), Tenant: u.text(useTenant), Job: u.text(useJob)}
	for _, text := range []string{l.SKU.Region, l.SKU.Family, l.SKU.GPUModel, l.Tenant, l.Account, l.Job} {
		if !utf8.ValidString(text) {
			return l, u.FaultUnwanted("", "text in UTF-8", strings.ToValidUTF8(text, "?"), "")
		}
	}
	for i, col := range u.by {
		u.tags.values[i] = u.Cell(col)
	}
	l.Tags = u.tags.tags()
	if err := u.times(&l); err != nil {
		return l, err
	}
	if err := u.kind(&l); err != nil {
		return l, err
	}
	if u.text(useMinimum) == "" {
		if l.Minimum = minimumOf(&l.SKU, l.Kind); l.Seconds < l.Minimum {
			u.short++
		}
	}
	return l, u.prices(&l)
}

// CutInstanceType divides an instance type such as p5.48xlarge into family and size. A name
// without a point is all family.
func CutInstanceType(text string) (family, size string) {
	family, size, _ = strings.Cut(text, ".")
	return family, size
}

// times reads the start, the duration, the minimum billing time and the units.
func (u *useReader) times(l *UseLine) (err error) {
	if l.Start, err = u.instant(useStart); err != nil {
		return err
	}
	if text := u.text(useSeconds); text != "" || u.text(useEnd) == "" {
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
	if u.text(useMinimum) != "" {
		if l.Minimum, err = u.seconds(useMinimum, 0); err != nil {
			return err
		}
	}
	text := u.text(useUnits)
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

// thousandths parses a number above 0 with at most three decimals, in thousandths.
func thousandths(text string) (int64, error) {
	a, _, err := focus.ParseAmount(text)
	if err != nil {
		return 0, fmt.Errorf("%s %w", capcli.Quoted(text), err)
	}
	milli, err := a.USD() // in millionths
	switch {
	case err != nil || milli > maxUseUnits*capcli.Dollar:
		return 0, fmt.Errorf("%s is more than a billion", capcli.Quoted(text))
	case milli <= 0:
		return 0, fmt.Errorf("expected more than 0, found %s", capcli.Quoted(text))
	case milli%1000 != 0 || focus.AmountOf(milli) != a:
		return 0, fmt.Errorf("%s has more than three decimals", capcli.Quoted(text))
	}
	return int64(milli / 1000), nil
}

// farthest is the last instant that is accepted: the end of the year 9999.
const farthest = capcli.Time(253402300799)

func (u *useReader) instant(c int) (capcli.Time, error) {
	text := u.text(c)
	at := focus.ParseInstant(text, time.RFC3339)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at = capcli.Time(n)
	}
	if at < 0 || at > farthest {
		hint := ""
		if focus.ParseInstant(strings.Replace(text, "T", " ", 1), time.DateTime).IsKnown() {
			hint = "it states no zone; for UTC write a Z behind it"
		}
		return at, u.unwanted(c, focus.WantInstant, text, hint)
	}
	return at, nil
}

// longestUse is the longest stretch of use that is accepted: fifty years.
const longestUse = 50 * 366 * capcli.Day

// seconds reads a whole number of seconds, of at least least.
func (u *useReader) seconds(c int, least capcli.Seconds) (capcli.Seconds, error) {
	text := u.text(c)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || capcli.Seconds(n) < least || capcli.Seconds(n) > longestUse {
		return 0, u.unwanted(c, fmt.Sprintf("whole seconds from %d to fifty years", least), text, "")
	}
	return capcli.Seconds(n), nil
}

// kind reads the kind of use, who ended it, and the currency.
func (u *useReader) kind(l *UseLine) error {
	switch text := u.text(useKind); text {
	case "", "on_demand":
	case "spot":
		l.Kind = UseSpot
	case "reserved":
		l.Kind = UseReserved
		if l.Capacity == "" {
			return u.fault(useCapacity, "reserved use names no capacity", "say in the column capacity which commitment of the portfolio it ran in")
		}
	default:
		return u.unwanted(useKind, "on_demand, spot or reserved", text, nearHint(text, useKindNames[:]))
	}
	switch text := u.text(useEnded); text {
	case "", "user":
	case "provider":
		l.Ended = EndedByProvider
	default:
		return u.unwanted(useEnded, "user or provider", text, "")
	}
	c := u.text(useCurrency)
	switch {
	case c == "" || c == u.rec.Currency:
	case u.rec.Currency == "" && len(u.rec.Lines) == 0:
		u.rec.Currency = c
	default:
		return u.unwanted(useCurrency, currencyOf(u.rec.Currency)+" as before", c,
			"one currency per run: capcli knows no rates of exchange")
	}
	return nil
}

// nearHint returns a hint that names the nearest of names, "" where none is near.
func nearHint(text string, names []string) string {
	if near := capcli.Nearest(text, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// prices reads the prices of a unit-hour.
func (u *useReader) prices(l *UseLine) error {
	for _, x := range []struct {
		c  int
		to *capcli.Rate
	}{{usePrice, &l.Price}, {useContracted, &l.Contracted}, {useSpot, &l.Spot}} {
		text := u.text(x.c)
		if text == "" {
			continue
		}
		p, err := capcli.ParseUSD(text)
		if err != nil || p <= 0 {
			return u.unwanted(x.c, "a price of a unit-hour above 0 with at most six decimals, such as 2.10", text, "leave it out where it is not known")
		}
		*x.to = p
	}
	l.Price = cmp.Or(l.Price, u.o.Price)
	if l.Price == 0 && l.Kind != UseReserved {
		return u.fault(usePrice, "expected the on-demand price of a unit-hour, found nothing", "fill in the column price, or give one for all lines with --on-demand")
	}
	if l.Seconds > 0 && l.Units > math.MaxInt64/int64(l.Seconds) {
		return u.fault(useUnits, "so many units for so long are more than can be counted", "")
	}
	return nil
}
