package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/outlook"
	"capcli/profile/demand"
)

// lead says in a sentence what is forecast.
func (r *forecastResult) lead() string {
	n, ahead := 0, 0
	for i := range r.Series {
		n, ahead = max(n, r.Series[i].History.Values), max(ahead, len(r.Series[i].Mean))
	}
	return fmt.Sprintf("%s. %s of history, %s ahead. Ranges hold %s%%.", whatIsForecast(r.hs), stepCount(r.hs, n), grouped(int64(ahead)), outlook.LevelText(r.Levels[0]))
}

// whatIsForecast says what the figures are.
func whatIsForecast(hs *demand.Histories) string {
	told := slices.ContainsFunc(hs.List, func(h *demand.History) bool { return h.Censoring != nil })
	each := ", mean of each " + stepWord(hs, 1)
	if hs.Peak {
		each = ", highest in each " + stepWord(hs, 1)
	}
	switch hs.Measure {
	case "demand":
		return "GPUs wanted (had nobody waited)" + each
	case "usage":
		if told {
			return "GPUs wanted (those held and those waited for)" + each
		}
		return "GPUs held" + each
	case "queue":
		return "GPUs that wait" + each
	case "busy":
		return "GPUs busy, by the share of time in which a kernel ran" + each
	case "sm":
		return "GPUs by the share of their SMs that were active" + each
	case "power":
		return "Power in W" + each
	case "arrivals":
		return "Jobs submitted in each " + stepWord(hs, 1)
	case "arrival-hours":
		return "GPU-hours submitted in each " + stepWord(hs, 1)
	}
	text := fmt.Sprintf("%s series from %s", grouped(int64(len(hs.List))), strings.Join(hs.Inputs, ", "))
	if told {
		return "Demand behind the usage in " + text
	}
	return text
}

// stepWord is the name of n steps.
func stepWord(hs *demand.Histories, n int64) string {
	words := map[string]string{"1h": "hour", "1d": "day", "1w": "week", "1mo": "month", "1q": "quarter", "1y": "year", "1m": "minute"}
	if w := words[hs.Step.String()]; hs.Clock && w != "" {
		return plural(n, w)
	}
	if hs.Clock {
		return plural(n, "step") + " of " + hs.Step.String()
	}
	return plural(n, "step")
}

func stepCount(hs *demand.Histories, n int) string {
	return grouped(int64(n)) + " " + stepWord(hs, int64(n))
}

// lastSeason names the last season.
func lastSeason(hs *demand.Histories, season int) string {
	if season <= 1 {
		return "the last value"
	}
	if hs.Clock {
		if hs.Step.Months > 0 && season*hs.Step.Months == 12 || hs.Step.Days == 7 && season == 52 {
			return "the last year"
		}
		switch capcli.Seconds(season) * hs.Step.Length() {
		case capcli.Day:
			return "the last day"
		case 7 * capcli.Day:
			return "the last week"
		default:
		}
	}
	return "the last " + stepCount(hs, season)
}

// notes are what the reader must know, the common ones first.
func (r *forecastResult) notes() []string {
	out := append([]string(nil), r.Warnings...)
	for _, note := range []string{r.backtestNote(), r.periodNote()} {
		if note != "" {
			out = append(out, note)
		}
	}
	out = append(out, r.censoredNotes()...)
	out = append(out, r.changeNotes()...)
	single := 0
	for i := range r.Series {
		for _, w := range r.Series[i].Warnings {
			if single++; single > shownNotes {
				continue
			}
			if len(r.Series) > 1 {
				w = r.Series[i].ID + ": " + w
			}
			out = append(out, w)
		}
	}
	if single > shownNotes {
		out = append(out, fmt.Sprintf("%d more notes about single series: -o json", single-shownNotes))
	}
	for _, l := range capcli.Abridge(r.NotForecast, 5) {
		out = append(out, "not forecast: "+l)
	}
	return out
}

// backtestNote says in words what the trial on the past found.
func (r *forecastResult) backtestNote() string {
	tried, origins, steps, season := 0, 0, 0, 0
	held, worse := 0.0, 0
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
	text := fmt.Sprintf("error: 1.00 is what repeating %s gives; from %d past %s, up to %s ahead. The %s%% ranges held %.0f%% of what came",
		lastSeason(r.hs, season), origins, plural(int64(origins), "start"), stepCount(r.hs, steps), outlook.LevelText(r.Levels[0]), 100*held/float64(tried))
	switch {
	case worse == 1 && tried == 1:
		text += "; repeating was better here"
	case worse > 0:
		text += fmt.Sprintf("; in %d of %d series repeating was better", worse, tried)
	}
	return text
}

// periodNote says what the periods are.
func (r *forecastResult) periodNote() string {
	if !r.o.ask.ByPeriods() {
		return ""
	}
	text := fmt.Sprintf("periods: ranges of each period's %s from %s futures", r.periodFigure(), grouped(int64(r.Draws)))
	tried := 0
	for _, t := range r.PeriodTrials {
		tried += t.Tried
	}
	if tried > 0 {
		text += fmt.Sprintf(", set by how far %s past ones were off", grouped(int64(tried)))
	} else {
		text += ", as the models say: the history is too short to try them on"
	}
	if r.o.history.periods && r.hs.Clock {
		text += "; whole weeks (from Monday), months, quarters and years that begin after the history"
	}
	if r.o.ask.Peak {
		text += "; peak is the highest step of each"
	}
	return text
}

// flagWords name what told demand from usage.
var flagWords = map[string]string{
	outlook.FlagQueue: "the queue", outlook.FlagCapacity: "the capacity", outlook.FlagBoth: "the queue, and the capacity where no queue is known", outlook.FlagNone: "nothing",
}

// bothFlags is what tells the demand of two series.
func bothFlags(a, b string) string {
	switch {
	case a == b || b == outlook.FlagNone:
		return a
	case a == outlook.FlagNone:
		return b
	}
	return outlook.FlagBoth
}

// censoredNotes are those of a forecast.
func (r *forecastResult) censoredNotes() []string {
	var each []*outlook.Censoring
	var trials []*outlook.Trial
	for i := range r.Series {
		if s := &r.Series[i]; !s.Sum { // its parts say it
			each, trials = append(each, s.Censoring), append(trials, s.Backtest)
		}
	}
	return censoredNotes(each, trials)
}

// censoredNotes say in words how much was held down, and in which steps a trial on the
// past could be scored.
func censoredNotes(each []*outlook.Censoring, trials []*outlook.Trial) []string {
	flag, steps, cut, usage, demand, n := outlook.FlagNone, 0, 0, 0.0, 0.0, 0
	for _, c := range each {
		if c == nil {
			continue
		}
		n++
		flag = bothFlags(flag, c.Flag)
		steps, cut = steps+c.Steps, cut+c.Cut
		if v := float64(c.Usage); !math.IsNaN(v) {
			usage, demand = usage+v, demand+float64(c.Demand)
		}
	}
	if n == 0 {
		return nil
	}
	if flag == outlook.FlagNone {
		return []string{"usage is taken for demand: neither a queue nor a capacity is known in any step"}
	}
	total := ""
	if n > 1 {
		total = ", all series together"
	}
	out := []string{fmt.Sprintf("this is demand, not usage: usage was held down in %s of the steps, told by %s; usage is %.5g on average%s, demand %.5g (%+.1f%%)",
		percentText(cut, steps), flagWords[flag], usage, total, demand, 100*(demand/usage-1))}
	scored, hidden, queue := 0, 0, false
	for _, t := range trials {
		if t != nil {
			scored, hidden = scored+t.Scored, hidden+t.Hidden
		}
	}
	for _, c := range each {
		queue = queue || c != nil && c.Queue > 0
	}
	switch {
	case hidden > 0:
		out = append(out, fmt.Sprintf("tried on the past in the %s of the steps in which demand is known; in the others usage stood at the capacity, and nobody knows what more was wanted", percentText(scored, scored+hidden)))
	case queue && scored > 0:
		out = append(out, "tried on the past against usage and queue together; each trial told demand from what came before it alone")
	}
	return out
}

func percentText(n, of int) string {
	if of == 0 {
		return "0%"
	}
	share := 100 * float64(n) / float64(of)
	if share > 0 && share < 1 || share > 99 && share < 100 {
		return fmt.Sprintf("%.1f%%", share)
	}
	return fmt.Sprintf("%.0f%%", share)
}

// namedChanges is how many changes a note names.
const namedChanges = 3

// changeNotes says in at most two lines what changed.
func (r *forecastResult) changeNotes() []string {
	var moves, odd []string
	moved, off := 0, 0 // series
	count := [2]int{}
	for i := range r.Series {
		s := &r.Series[i]
		name := ""
		if len(r.Series) > 1 {
			name = s.ID + " "
		}
		if n := len(s.Moves); n > 0 {
			moved++
			count[0] += n
			shown := 1 // of many series the last move each
			if len(r.Series) == 1 {
				shown = namedChanges
			}
			for _, m := range s.Moves[max(0, n-shown):] {
				moves = append(moves, fmt.Sprintf("%son %s from %s to %s", name, m.DS, changeFigure(m.From), changeFigure(m.To)))
			}
		}
		if n := len(s.Odd); n > 0 {
			off++
			count[1] += n
			a := s.Odd[0]
			odd = append(odd, fmt.Sprintf("%son %s (%s where %s was to be expected)", name, a.DS, changeFigure(a.Value), changeFigure(a.Expected)))
		}
	}
	var out []string
	if moved > 0 {
		how := ", "
		switch {
		case len(r.Series) > 1:
			how = ": "
		case count[0] > 1:
			how = ", lastly "
		}
		out = append(out, fmt.Sprintf("the level moved %s%s%s%s%s", times(count[0]), r.inSomeOf(moved), how, strings.Join(moves[:min(len(moves), namedChanges)], ", "), whereTheRest(count[0], len(moves))))
	}
	if off > 0 {
		how := ", the first "
		switch {
		case len(r.Series) > 1:
			how = ": "
		case count[1] == 1:
			how = ", "
		}
		out = append(out, fmt.Sprintf("%s %s out%s%s%s%s", oddCount(count[1], "value"), verb(count[1], "stand"), r.inSomeOf(off), how, strings.Join(odd[:min(len(odd), namedChanges)], ", "), whereTheRest(count[1], len(odd))))
	}
	return out
}

// inSomeOf says in how many series something is, where there are several.
func (r *forecastResult) inSomeOf(n int) string {
	if len(r.Series) == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d of %d series", n, len(r.Series))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// oddCount is n of something.
func oddCount(n int, word string) string {
	return fmt.Sprintf("%s %s", grouped(int64(n)), plural(int64(n), word))
}

func verb(n int, word string) string {
	if n == 1 {
		return word + "s"
	}
	return word
}

// whereTheRest says where the changes are that a note does not name.
func whereTheRest(all, named int) string {
	if all > min(named, namedChanges) {
		return " (all: --table changes)"
	}
	return ""
}

// changeFigure writes a figure for people.
func changeFigure(v float64) string {
	digits := 3
	if math.Abs(v) >= 1000 {
		digits = int(math.Log10(math.Abs(v))) + 1
	}
	return fmt.Sprintf("%.*g", digits, v)
}
