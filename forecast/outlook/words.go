package outlook

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
)

// Lead returns a sentence on what was forecast.
func (r *Result) Lead() string {
	n, ahead := 0, 0
	for i := range r.Series {
		n, ahead = max(n, r.Series[i].History.Values), max(ahead, len(r.Series[i].Mean))
	}
	return fmt.Sprintf("%s. %s of history, %s ahead. Ranges hold %s%%.",
		figureText(r.histories), StepsText(r.histories, n), capcli.Grouped(int64(ahead)), LevelText(r.Levels[0]))
}

// Lead returns a sentence on what was tried, with the model of the lowest MASE.
func (r *BacktestResult) Lead() string {
	origins, steps := 0, 0
	for i := range r.Series {
		for _, t := range r.Series[i].Trials {
			origins, steps = max(origins, t.Origins), max(steps, t.Steps)
		}
	}
	text := fmt.Sprintf("%d series, from up to %d past %s, %s ahead", len(r.Series), origins, capcli.Plural(int64(origins), "start"), StepsText(r.histories, steps))
	best, least := "", math.Inf(1)
	for _, m := range r.Models {
		if v := float64(m.MASE); v < least {
			best, least = m.Model, v
		}
	}
	if best != "" {
		text += fmt.Sprintf(": %s has the lowest MASE, %.2f", best, least)
	}
	return text + "."
}

// measureWords name the figures of a job log or of samples, by measure.
var measureWords = map[string]string{
	"demand": "GPU demand (unconstrained)",
	"usage":  "GPUs held",
	"queue":  "GPUs queued",
	"busy":   "Busy GPUs (GPUs x share of time with a kernel running)",
	"sm":     "Active GPUs (GPUs x share of SMs active)",
	"power":  "Power in W",

	"requests":   "Requests a second",
	"tokens-in":  "Tokens in a second",
	"tokens-out": "Tokens out a second",
	"running":    "Running requests",
	"waiting":    "Waiting requests",
	"ttft-p99":   "Time to first token, p99, s",
	"tpot-p99":   "Time per output token, p99, s",
	"e2e-p99":    "Time end to end, p99, s",
}

// LinesTitle is the title of the levels that suffice in all steps.
func (r *Result) LinesTitle() string {
	what := "GPUs"
	if slices.Contains(demand.TrafficMeasures, r.Measure) {
		what = "Levels"
	}
	return what + " that suffice in all " + r.reach() + ", with probability"
}

// FullTitle is the title of the dates at which demand passes the capacity.
func (r *Result) FullTitle() string {
	return "Date by which demand passes the capacity, with probability, within " + r.reach()
}

// reach returns the length of the longest forecast in words.
func (r *Result) reach() string {
	steps := 0
	for i := range r.Series {
		steps = max(steps, len(r.Series[i].Mean))
	}
	return StepsText(r.histories, steps)
}

func figureText(hs *demand.Histories) string {
	estimated := slices.ContainsFunc(hs.List, func(h *demand.History) bool { return h.Censoring != nil })
	each := ", mean of each " + stepWord(hs, 1)
	if hs.Peak {
		each = ", highest in each " + stepWord(hs, 1)
	}
	switch {
	case hs.Measure == "usage" && estimated:
		return "GPU demand (held and queued)" + each
	case measureWords[hs.Measure] != "":
		return measureWords[hs.Measure] + each
	case hs.Measure == "arrivals":
		return "Jobs submitted in each " + stepWord(hs, 1)
	case hs.Measure == "arrival-hours":
		return "GPU-hours submitted in each " + stepWord(hs, 1)
	}
	text := fmt.Sprintf("%s series from %s", capcli.Grouped(int64(len(hs.List))), strings.Join(hs.Inputs, ", "))
	if estimated {
		return "Demand estimated from the usage in " + text
	}
	return text
}

// stepWords name the usual steps.
var stepWords = map[string]string{"1h": "hour", "1d": "day", "1w": "week", "1mo": "month", "1q": "quarter", "1y": "year", "1m": "minute"}

func stepWord(hs *demand.Histories, n int64) string {
	if !hs.Clock {
		return capcli.Plural(n, "step")
	}
	if w := stepWords[hs.Step.String()]; w != "" {
		return capcli.Plural(n, w)
	}
	return capcli.Plural(n, "step") + " of " + hs.Step.String()
}

// StepsText returns n steps of the histories in words: "24 hours".
func StepsText(hs *demand.Histories, n int) string {
	return capcli.Grouped(int64(n)) + " " + stepWord(hs, int64(n))
}

// seasonText names the last season of the given number of steps.
func seasonText(hs *demand.Histories, season int) string {
	length := capcli.Seconds(season) * hs.Step.Length()
	switch {
	case season <= 1:
		return "the last value"
	case hs.Clock && (hs.Step.Months > 0 && season*hs.Step.Months == 12 || hs.Step.Days == 7 && season == 52):
		return "the last year"
	case hs.Clock && length == capcli.Day:
		return "the last day"
	case hs.Clock && length == 7*capcli.Day:
		return "the last week"
	}
	return "the last " + StepsText(hs, season)
}

// shareText returns n of all in percent, with one decimal below 1 and above 99.
func shareText(n, all int) string {
	if all == 0 {
		return "0%"
	}
	share := 100 * float64(n) / float64(all)
	if share > 0 && share < 1 || share > 99 && share < 100 {
		return fmt.Sprintf("%.1f%%", share)
	}
	return fmt.Sprintf("%.0f%%", share)
}

// amountText writes an amount with three significant digits, or with all digits before the
// decimal point where these are more.
func amountText(v float64) string {
	digits := 3
	if math.Abs(v) >= 1000 {
		digits = int(math.Log10(math.Abs(v))) + 1
	}
	return fmt.Sprintf("%.*g", digits, v)
}

// ShortenMethod shortens the name of a method for a table. A combination is cut after its first
// members.
func ShortenMethod(method string) string {
	const most = 32
	if len(method) <= most {
		return method
	}
	parts := strings.Split(method, ", ")
	out := parts[0]
	for _, p := range parts[1:] {
		if len(out)+len(p) > most {
			break
		}
		out += ", " + p
	}
	return out + ", …"
}
