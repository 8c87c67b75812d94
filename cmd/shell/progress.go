package shell

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"capcli"
	"capcli/cmd/report"
)

// How often progress is shown, and the shortest wait that shows any.
const (
	FirstSign     = time.Second     // the earliest first line
	Patience      = 2 * time.Second // the shortest wait whose duration is reported at its end
	lineEvery     = 100 * time.Millisecond
	jsonEvery     = time.Second
	plainEvery    = 30 * time.Second
	ProgressModes = "none, plain, json"
)

// Progress reports on stderr how far a long operation is: a line that is redrawn on a terminal, a
// plain line every 30 s elsewhere. A nil progress is silent.
type Progress struct {
	e           *Env
	unit        string // "rows"
	begun, last time.Time
	every       time.Duration
	mode        string // line, plain, json
	shown       bool
	bounded     bool // totals are upper bounds
}

// NewProgress starts timing an operation counted in unit ("rows", "runs"). It returns nil if
// progress is not wanted.
func NewProgress(e *Env, unit string) *Progress {
	p := &Progress{e: e, unit: unit, begun: e.Now(), mode: e.Progress}
	if p.mode == "" {
		p.mode = "plain"
		if e.Screen.Stderr && e.Getenv("TERM") != "dumb" {
			p.mode = "line"
		}
	}
	switch p.mode {
	case "line":
		p.every = lineEvery
	case "json":
		p.every = jsonEvery
	default:
		p.every = plainEvery
	}
	if e.Quiet || p.mode == "none" {
		return nil
	}
	p.last = p.begun
	return p
}

// Report shows that done of total are done; total 0 is unknown. It reads the clock, so call it
// every few thousand steps rather than at each.
func (p *Progress) Report(done, total int64) {
	if p == nil {
		return
	}
	now := p.e.Now()
	if now.Sub(p.begun) < FirstSign || now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	p.show(done, total, now.Sub(p.begun))
}

// Counter returns a function that reports how many of total are done.
func (p *Progress) Counter(total int) func(done int) {
	return func(done int) { p.Report(int64(done), int64(total)) }
}

// ShowAtMost is report where total is an upper bound, from which the remaining time cannot be
// estimated.
func (p *Progress) ShowAtMost(done, total int64) {
	if p != nil {
		p.bounded = true
		p.Report(done, total)
	}
}

// End clears the line and, after a long operation, reports how long it took.
func (p *Progress) End(done int64) {
	if p == nil {
		return
	}
	took := p.e.Now().Sub(p.begun)
	if p.shown && p.mode == "line" {
		_, _ = fmt.Fprint(p.e.Stderr, "\r\x1b[K")
	}
	if took >= Patience {
		p.mode = strings.Replace(p.mode, "line", "plain", 1)
		p.show(done, 0, took)
	}
}

func (p *Progress) show(done, total int64, took time.Duration) {
	p.shown = true
	if p.mode == "json" {
		var all *int64 // null where the total is unknown
		if total > 0 {
			all = &total
		}
		line, err := json.Marshal(report.Progress{
			Schema: "capcli/progress/v1", Unit: p.unit, Done: done, Total: all, AtMost: p.bounded && total > 0, Elapsed: took.Round(time.Millisecond).Seconds(),
		})
		if err == nil {
			_, _ = fmt.Fprintf(p.e.Stderr, "%s\n", line)
		}
		return
	}
	text := progressText(p.unit, done, total, took)
	if p.bounded && total > 0 {
		text = fmt.Sprintf("%s of at most %s %s", capcli.Grouped(done), capcli.Grouped(total), strings.SplitN(progressText(p.unit, done, 0, took), " ", 2)[1])
	}
	if p.mode == "line" {
		_, _ = fmt.Fprint(p.e.Stderr, "\r"+text+"\x1b[K")
		return
	}
	_, _ = fmt.Fprintln(p.e.Stderr, text)
}

// progressText returns "1,204,311 rows, 6.1 s, 197k rows/s" or, if the total is known, "120/200
// runs, 38 s, 3.2 runs/s, 25 s left".
func progressText(unit string, done, total int64, took time.Duration) string {
	rate := float64(done) / max(took.Seconds(), 1e-3)
	count := capcli.Grouped(done)
	if total > 0 {
		count += "/" + capcli.Grouped(total)
	}
	text := fmt.Sprintf("%s %s, %s, %s %s/s", count, unit, shortTime(took), shortCount(rate), unit)
	if total > done && rate > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += ", " + shortTime(left) + " left"
	}
	return text
}

func shortTime(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func shortCount(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.1fM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
