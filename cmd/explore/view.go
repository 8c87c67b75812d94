package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/timeline"
	"capcli/scenarios/outcome"
	"capcli/scenarios/whatif"
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Text())
	v.AltScreen = true
	return v
}

// wide is the width from which knobs and answer stand side by side.
const wide = 120

// Text returns the screen as text, of at most its width and height.
func (m *Model) Text() string {
	width, height := max(20, m.width), max(8, m.height)
	lines := []string{m.title()}
	foot := m.foot(width)
	room := height - 1 - len(foot)
	switch {
	case m.help:
		lines = append(lines, helpLines...)
	case width >= wide:
		left := 56
		lines = append(lines, beside(m.knobLines(left, room), m.answerLines(width-left-3, room), left, room)...)
	default:
		knobs := min(len(m.knobs), max(3, min(room-len(heads)-1, room/4+1)))
		lines = append(lines, m.knobLines(width, knobs)...)
		lines = append(lines, m.answerLines(width, room-knobs)...)
	}
	lines = lines[:min(len(lines), height-len(foot))]
	for len(lines) < height-len(foot) {
		lines = append(lines, "")
	}
	lines = append(lines, foot...)
	for i := range lines {
		lines[i] = m.fit(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

// reversed marks a line that is shown reversed, where the terminal has styles.
const reversed = "\x00"

// fit cuts a line to the width, and gives it its style.
func (m *Model) fit(line string, width int) string {
	text, mark := strings.CutPrefix(line, reversed)
	text = report.Strip(text)
	if twwidth.Width(text) > width {
		r := []rune(text)
		for len(r) > 0 && twwidth.Width(string(r))+1 > width {
			r = r[:len(r)-1]
		}
		text = string(r) + "…"
	}
	if mark && !m.plain {
		return "\x1b[7m" + text + "\x1b[0m"
	}
	return text
}

// title says what is explored, and of how many jobs the answer is.
func (m *Model) title() string {
	state := ""
	switch {
	case m.busy:
		state = "  … running"
	case m.now != nil && m.now.Thinned != nil:
		state = fmt.Sprintf("  thinned: %d of %d jobs, f plays all", m.now.Thinned.Kept, m.now.Thinned.From)
	case m.now != nil:
		state = fmt.Sprintf("  %d jobs", m.now.Document.Runs[0].Jobs.Read)
	}
	return "explore " + m.session.Label + state
}

// foot returns the last lines: a message or an error, and the keys.
func (m *Model) foot(width int) []string {
	keys := "↑↓ row  ←→ change  shift+←→ by ten  enter type  r reset  f all jobs  w write  ? help  q quit"
	switch {
	case width < 66:
		keys = "↑↓ row  ←→ change  enter type  w write  ? help  q quit"
	case width < 96:
		keys = "↑↓ row  ←→ change  enter type  r reset  w write  ? help  q quit"
	}
	switch {
	case m.typed != nil:
		k := &m.knobs[m.cursor]
		wants := ""
		if k.Kind == whatif.Choice {
			wants = " (" + strings.Join(k.Choices, " ") + ")"
		}
		return []string{k.Label + " = " + *m.typed + "_" + wants, "enter sets it, esc leaves it"}
	case m.said != "":
		return []string{m.said, keys}
	case m.err != nil:
		return []string{"error: " + m.err.Error(), keys}
	}
	return []string{keys}
}

// knobLines returns the rows of the knobs around the cursor, at most n of them.
func (m *Model) knobLines(width, n int) []string {
	n = min(n, len(m.knobs))
	from := max(0, min(m.cursor-n/2, len(m.knobs)-n))
	var out []string
	for i := from; i < from+n; i++ {
		k := &m.knobs[i]
		mark, value, was := "  ", shownValue(m.values[i]), ""
		if m.values[i] != k.Value {
			was = "was " + shownValue(k.Value)
		}
		if i == m.cursor {
			mark = "> "
		}
		label := pad(k.Label, min(34, width-26))
		line := mark + label + " " + padLeft(value, 12) + "  " + was
		if i == m.cursor {
			line = reversed + pad(line, width-1)
		}
		out = append(out, line)
	}
	return out
}

// shownValue returns a value for people: "" is without limit.
func shownValue(v string) string {
	if v == "" {
		return "no limit"
	}
	return v
}

// heads are the metrics of the answer, the most important first.
var heads = []string{"cost_per_year", "unserved_share", "wait_p95", "stranded_usd", "allocation_rate", "wait_p50", "cost", "per_used_gpu_hour", "on_demand", "spot", "preemptions"}

// answerLines returns the figures of the answer, with the difference to the start, and the use over
// time in the lines that are left.
func (m *Model) answerLines(width, n int) []string {
	if m.now == nil {
		if m.err != nil {
			return []string{"", "no answer: see below"}
		}
		return []string{"", "the engine is running …"}
	}
	figures := min(len(heads), n-1)
	if n >= 13 { // the rest is the chart's
		figures = min(len(heads), max(4, n/3))
	}
	cell := max(10, min(16, (width-24)/3))
	out := []string{pad("", 24) + padLeft("now", cell) + padLeft("start", cell) + padLeft("difference", cell)}
	for _, name := range heads[:figures] {
		a, b := headOf(m.now.Heads, name), headOf(m.start.Heads, name)
		if a == nil || b == nil {
			continue
		}
		out = append(out, pad(a.Label, 24)+padLeft(shortText(a), cell)+padLeft(shortText(b), cell)+padLeft(difference(a, b), cell))
	}
	return append(out, m.chartLines(width, n-len(out))...)
}

// chartLines returns the use over time in at most n lines; nothing if they are too few.
func (m *Model) chartLines(width, n int) []string {
	for rows := min(n-3, 16); rows >= 3; rows-- {
		c := timeline.Use(m.now.Document.Runs[0].Timeline, rows)
		c.Title = "GPUs in use over time"
		if lines := strings.Split(strings.TrimRight(c.Draw(width), "\n"), "\n"); len(lines) <= n {
			return lines
		}
	}
	return nil
}

func headOf(list []whatif.Headline, name string) *whatif.Headline {
	i := slices.IndexFunc(list, func(h whatif.Headline) bool { return h.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// difference returns a less b as text, with its sign; "" where one is not known.
func difference(a, b *whatif.Headline) string {
	if a.Value == nil || b.Value == nil {
		return "n/a"
	}
	by := *a.Value - *b.Value
	if by == 0 {
		return "same"
	}
	text := amountText(a, math.Abs(by))
	if share, ok := strings.CutSuffix(text, "%"); ok { // a difference of shares is in points
		if text = share + " pts"; share == "0.0" {
			text = strconv.FormatFloat(100*math.Abs(by), 'g', 1, 64) + " pts"
		}
	}
	if by < 0 {
		return "-" + text
	}
	return "+" + text
}

func shortText(h *whatif.Headline) string {
	if h.Value == nil {
		return h.Text
	}
	return amountText(h, *h.Value)
}

// amountText returns a value of a figure: an amount from $100 up without cents.
func amountText(h *whatif.Headline, v float64) string {
	if h.Unit == outcome.InUSD.String() && math.Abs(v) >= 100 && !h.AtLeast {
		return strings.TrimSuffix((capcli.USD(math.Round(v)) * capcli.Dollar).String(), ".00")
	}
	if v == *h.Value {
		return h.Text
	}
	return outcome.MetricNamed(h.Name).Text(v)
}

// beside puts two columns side by side.
func beside(left, right []string, width, n int) []string {
	out := make([]string, 0, n)
	for i := range min(n, max(len(left), len(right))) {
		a, b := "", ""
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		text, mark := strings.CutPrefix(a, reversed)
		if text = pad(text, width); mark { // the marked row has its arrow; a style would reach into the other column
			text = "▶" + strings.TrimPrefix(text, ">")
		}
		out = append(out, text+" │ "+b)
	}
	return out
}

// pad fills s with spaces, or cuts it, to width columns; padLeft puts the spaces before it.
func pad(s string, width int) string {
	w := twwidth.Width(s)
	if w > width {
		r := []rune(s)
		for len(r) > 0 && twwidth.Width(string(r))+1 > width {
			r = r[:len(r)-1]
		}
		s, w = string(r)+"…", twwidth.Width(string(r))+1
	}
	return s + strings.Repeat(" ", max(0, width-w))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(1, width-twwidth.Width(s))) + s
}

var helpLines = []string{
	"",
	"  up, down, j, k      another row",
	"  left, right, - +    the value one step down or up; shift or < > by ten",
	"  enter               type a value; esc leaves it as it was",
	"  0, backspace        the row as it was; r all rows as they were",
	"  f                   play all jobs, where they are thinned; f again thins them",
	"  w                   write the scenario with these values to a file",
	"  q, ctrl+c           quit, and print the command that makes this run",
	"",
	"  Each change runs the engine again; a newer change stops the run before it.",
	"  The numbers are those of the command that q prints, where jobs are not thinned.",
	"  Any key goes back.",
}

// Run shows the model on a terminal until the user quits. It fails with the cause of ctx.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer) error {
	defer func() { m.stop() }()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
