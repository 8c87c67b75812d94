package outlook

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
)

const (
	namedFailures = 5  // number of series without a result that notes name
	namedSingles  = 12 // number of notes about single series
	namedChanges  = 3  // number of changes that a note names
)

// Notes returns the notes for a reader of the figures, those on all series first.
func (r *Result) Notes() []string {
	out := append([]string(nil), r.Warnings...)
	for _, note := range []string{r.backtestNote(), r.periodNote()} {
		if note != "" {
			out = append(out, note)
		}
	}
	var each []*Censoring
	var trials []*Trial
	var single []string
	for i := range r.Series {
		s := &r.Series[i]
		if !s.Sum { // the figures of a sum repeat those of its parts
			each, trials = append(each, s.Censoring), append(trials, s.Backtest)
		}
		for _, w := range s.Warnings {
			single = append(single, r.namePrefix(s, ": ")+w)
		}
	}
	out = append(out, censoringNotes(each, trials)...)
	out = append(out, r.asideNotes()...)
	out = append(out, r.changeNotes()...)
	out = append(out, single[:min(len(single), namedSingles)]...)
	if more := len(single) - namedSingles; more > 0 {
		out = append(out, fmt.Sprintf("%d more notes about single series: -o json", more))
	}
	if note := r.endedNote(); note != "" {
		out = append(out, note)
	}
	for _, l := range capcli.Abridge(r.NotForecast, namedFailures) {
		out = append(out, "not forecast: "+l)
	}
	return out
}

// Notes returns the notes for a reader of the figures.
func (r *BacktestResult) Notes() []string {
	out := append([]string(nil), r.Warnings...)
	var each []*Censoring
	var trials []*Trial
	var single []string
	for i := range r.Series {
		s := &r.Series[i]
		if !s.Sum { // the figures of a sum repeat those of its parts
			each, trials = append(each, s.Censoring), append(trials, s.Trials...)
		}
		if s.Censoring == nil {
			continue
		}
		for _, w := range s.source.Warnings {
			single = append(single, s.ID+": "+w)
		}
	}
	out = append(append(out, censoringNotes(each, trials)...), single...)
	for _, l := range capcli.Abridge(r.NotTried, namedFailures) {
		out = append(out, "not tried: "+l)
	}
	return out
}

// namePrefix returns the name of a series and separator, to put before a note about it; "" where
// there is only one series.
func (r *Result) namePrefix(s *Series, separator string) string {
	if len(r.Series) == 1 {
		return ""
	}
	return s.ID + separator
}

// backtestNote returns a note on the results of the trials on the past; "" where no series was
// tried.
func (r *Result) backtestNote() string {
	tried, origins, steps, season, held, worse := 0, 0, 0, 0, 0.0, 0
	for i := range r.Series {
		t := r.Series[i].Backtest
		if t == nil {
			continue
		}
		tried++
		origins, steps, season = max(origins, t.Origins), max(steps, t.Steps), max(season, r.Series[i].History.Season)
		if c := float64(t.Coverage[0].Held); !math.IsNaN(c) {
			held += c
		}
		if t.Error > 1 {
			worse++
		}
	}
	if tried == 0 {
		return ""
	}
	text := fmt.Sprintf("error: 1.00 is the error of repeating %s; measured from %d past %s, up to %s ahead. The %s%% ranges held %.0f%% of the actual values",
		seasonText(r.histories, season), origins, capcli.Plural(int64(origins), "start"), StepsText(r.histories, steps), LevelText(r.Levels[0]), 100*held/float64(tried))
	switch {
	case worse == 1 && tried == 1:
		text += "; repeating was better here"
	case worse > 0:
		text += fmt.Sprintf("; in %d of %d series repeating was better", worse, tried)
	}
	return text
}

// PeriodFigure returns the name of the figure of each period: mean or sum.
func (r *Result) PeriodFigure() string {
	if list := r.Series[0].Periods; len(list) > 0 && list[0].Sum {
		return "sum"
	}
	return "mean"
}

// periodNote returns a note on how the figures of periods were made; "" without periods.
func (r *Result) periodNote() string {
	if !r.asked.ByPeriods() {
		return ""
	}
	text := fmt.Sprintf("periods: ranges of each period's %s from %s futures", r.PeriodFigure(), capcli.Grouped(int64(r.draws)))
	tried := capcli.Sum(r.PeriodTrials, func(t PeriodTrial) int { return t.Tried })
	if tried > 0 {
		text += fmt.Sprintf(", as wide as the errors of %s past ones", capcli.Grouped(int64(tried)))
	} else {
		text += ", as wide as the models say: the history is too short for a backtest"
	}
	if strings.Contains(r.asked.Horizon, ",") && r.histories.Clock {
		text += "; whole weeks (from Monday), months, quarters and years that begin after the history"
	}
	if r.asked.Peak {
		text += "; peak is the highest step of each"
	}
	return text
}

// flagWords name the source from which demand was estimated, by flag.
var flagWords = map[string]string{
	flagQueue: "the queue", flagCapacity: "the capacity", flagBoth: "the queue, and the capacity where no queue is known", flagNone: "nothing",
}

// joinFlags returns the flag that describes two series together.
func joinFlags(a, b string) string {
	switch {
	case a == b || b == flagNone:
		return a
	case a == flagNone:
		return b
	}
	return flagBoth
}

// censoringNotes returns notes on how much of the histories was limited, and in which steps a
// trial on the past could be scored. Elements of each and trials may be nil.
func censoringNotes(each []*Censoring, trials []*Trial) []string {
	flag, steps, cut, usage, demand, n, queue := flagNone, 0, 0, 0.0, 0.0, 0, false
	for _, c := range each {
		if c == nil {
			continue
		}
		n++
		flag, queue = joinFlags(flag, c.Flag), queue || c.Queue > 0
		steps, cut = steps+c.Steps, cut+c.Cut
		if v := float64(c.Usage); !math.IsNaN(v) {
			usage, demand = usage+v, demand+float64(c.Demand)
		}
	}
	switch {
	case n == 0:
		return nil
	case flag == flagNone:
		return []string{"usage is used as demand: neither a queue nor a capacity is known in any step"}
	}
	total := ""
	if n > 1 {
		total = ", all series together"
	}
	out := []string{fmt.Sprintf("this is demand, not usage: usage was censored in %s of the steps, known from %s; mean usage is %.5g%s, mean demand %.5g (%+.1f%%)",
		shareText(cut, steps), flagWords[flag], usage, total, demand, 100*(demand/usage-1))}
	scored, hidden := 0, 0
	for _, t := range trials {
		if t != nil {
			scored, hidden = scored+t.Scored, hidden+t.Hidden
		}
	}
	switch {
	case hidden > 0:
		out = append(out, fmt.Sprintf("the backtest scores the %s of the steps in which demand is known; in the others usage was at the capacity and demand is unknown", shareText(scored, scored+hidden)))
	case queue && scored > 0:
		out = append(out, "the backtest scores against usage + queue; each trial estimates demand from earlier data alone")
	}
	return out
}

// mentions collects the changes of one kind: their number, the number of series with one, and
// texts on some of them.
type mentions struct {
	count, series int
	texts         []string
}

// note returns what, followed by the first texts. between precedes the texts of a single series
// with several changes. all is the number of series of the result.
func (m *mentions) note(what, between string, all int) string {
	switch {
	case all > 1:
		what += fmt.Sprintf(" in %d of %d series: ", m.series, all)
	case m.count > 1:
		what += between
	default:
		what += ", "
	}
	what += strings.Join(m.texts[:min(len(m.texts), namedChanges)], ", ")
	if m.count > min(len(m.texts), namedChanges) {
		what += " (all: --table changes)"
	}
	return what
}

// toldMoves returns the moves of the level that are larger than the usual error of a forecast: smaller
// ones change no answer.
func (s *Series) toldMoves() []Move {
	if s.Backtest == nil {
		return s.Moves
	}
	return slices.DeleteFunc(slices.Clone(s.Moves), func(m Move) bool { return math.Abs(m.To-m.From) <= float64(s.Backtest.MAE) })
}

// changeNotes returns at most two notes on changes. The first has the last moves of a single
// series, or the last move of each of several. The second has the first odd value of each.
func (r *Result) changeNotes() []string {
	var moves, odd mentions
	most := 1
	if len(r.Series) == 1 {
		most = namedChanges
	}
	for i := range r.Series {
		s := &r.Series[i]
		name := r.namePrefix(s, " ")
		told := s.toldMoves()
		if n := len(told); n > 0 {
			moves.count, moves.series = moves.count+n, moves.series+1
			for _, m := range told[max(0, n-most):] {
				moves.texts = append(moves.texts, fmt.Sprintf("%son %s from %s to %s", name, m.DS, amountText(m.From), amountText(m.To)))
			}
		}
		own := 0
		for _, a := range s.Odd {
			switch {
			case a.SetAside:
			case own > 0: // only the first of each series is named
				odd.count++
			default:
				odd.add(name, fmt.Sprintf("on %s (%s, expected %s)", a.DS, amountText(a.Value), amountText(a.Expected)), &own)
			}
		}
	}
	var out []string
	switch {
	case moves.count == 1:
		out = append(out, moves.note("the level shifted once", "", len(r.Series)))
	case moves.count > 1:
		out = append(out, moves.note(fmt.Sprintf("the level shifted %d times", moves.count), ", lastly ", len(r.Series)))
	}
	switch {
	case odd.count == 1:
		out = append(out, odd.note("1 outlier", "", len(r.Series)))
	case odd.count > 1:
		out = append(out, odd.note(capcli.Grouped(int64(odd.count))+" outliers", ", the first ", len(r.Series)))
	}
	return out
}
