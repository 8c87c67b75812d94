package heat

import (
	"fmt"
	"math"
	"time"

	"capcli"
)

// rowNouns are what rows are called.
var rowNouns = map[string]string{"host": "box", "gpu": "GPU", "job": "job", "tenant": "tenant"}

// nouns returns n with the noun of the rows.
func (r *Result) nouns(n int) string {
	word := rowNouns[r.By]
	if word == "box" && n != 1 {
		return capcli.Grouped(int64(n)) + " boxes"
	}
	return capcli.Grouped(int64(n)) + " " + capcli.Plural(int64(n), word)
}

// Text returns a value of the heatmap with its unit.
func (r *Result) Text(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case r.Unit == "USD":
		return capcli.USDOf(v).String()
	case r.Unit == "%":
		return fmt.Sprintf("%.1f%%", v)
	}
	return fmt.Sprintf("%.1f %s", v, r.Unit)
}

// Lead returns what the heatmap says in at most three sentences.
func (r *Result) Lead() string {
	named := len(r.Rows)
	if r.LeftOut > 0 {
		named--
	}
	text := fmt.Sprintf("%s, %s to %s", r.nouns(named+r.LeftOut), r.day(r.From), r.day(r.To))
	if !r.measure.Adds {
		text += fmt.Sprintf(", %s: %s on average", r.Title, r.Text(float64(r.Total.Value)))
	}
	text += "."
	if idle := float64(r.Total.Idle); idle > 0 {
		text += fmt.Sprintf(" Held and idle: %s%s, most by %s (%.0f%%).", gpuHours(idle), r.cost(r.Total), r.Rows[0].Name, 100*float64(r.Rows[0].Idle)/idle)
	}
	if r.LeftOut > 0 {
		rest := r.Rows[named]
		text += fmt.Sprintf(" The %d that idled most are shown; %s more, with %s held and idle, are summed up in one row.", named, r.nouns(r.LeftOut), gpuHours(float64(rest.Idle)))
	}
	return text
}

// day returns a time of the result without its seconds, in its zone.
func (r *Result) day(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return at.In(r.zone).Format("2006-01-02 15:04")
}

func gpuHours(v float64) string { return fmt.Sprintf("%.1f GPU-hours", v) }

// cost returns what the idle hours of a row cost, in brackets, or "".
func (r *Result) cost(row *Row) string {
	if row.Cost == nil {
		return ""
	}
	return " (" + row.Cost.String() + ")"
}

// Notes returns what a reader must know beside the figures.
func (r *Result) Notes() []string {
	gaps, all := 0, len(r.Total.Values)
	for _, v := range r.Total.Values {
		if math.IsNaN(float64(v)) {
			gaps++
		}
	}
	var out []string
	if gaps == all {
		out = append(out, r.Title+" was not reported by any GPU here; --measure use is known of most")
	} else if gaps > 0 {
		out = append(out, fmt.Sprintf("in %d of %d hours nothing was sampled: they are gaps, not 0", gaps, all))
	}
	return out
}

// ColumnName is the name of the measure in tables, with its unit.
func (r *Result) ColumnName() string {
	switch r.Unit {
	case "%":
		return r.Measure + "_pct"
	case "W":
		return r.Measure + "_w"
	case "USD":
		return "idle_usd"
	}
	return r.Measure + "_gpu_hours"
}

// NameWidth is the number of letters of the longest name of a row.
func (r *Result) NameWidth() int {
	n := len("all")
	for _, row := range r.Rows {
		n = max(n, len([]rune(row.Name)))
	}
	return n
}

// Hours returns how long a column of a picture is, in words: "1 hour", "2 hours", "1d".
func (p *Picture) Hours() string {
	if h := p.Step.Seconds / 3600; h > 0 {
		return fmt.Sprintf("%d %s", h, capcli.Plural(int64(h), "hour"))
	}
	return p.Step.String()
}
