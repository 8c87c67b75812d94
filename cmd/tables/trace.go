package tables

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/schema"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
)

// shownShares is the most tenants, partitions or models shown on a terminal.
const shownShares = 10

// figures is the table of the description's single figures, one a row.
func (d *Description) figures() report.Table {
	t := report.Figures[any]("figures", nil, nil)
	add := func(name, head string, value any) {
		t.Rows = append(t.Rows, []any{report.Label{Name: name, Head: head}, value})
	}
	add("jobs", "jobs", d.Jobs)
	add("cpu_only_jobs", "jobs without a GPU", d.CPUOnlyJobs)
	add("first_submit", "first submit", d.FirstSubmit)
	add("last_submit", "last submit", d.LastSubmit)
	add("span_s", "span", capcli.Seconds(d.SpanS))
	add("gpu_hours", "GPU-hours of demand", d.GPUHours)
	quantiles := func(name string, q *trace.Quantiles) {
		if q == nil {
			add(name+"_p50_s", name+" p50", nil)
			return
		}
		add(name+"_mean_s", name+" mean", capcli.Seconds(q.MeanS+0.5))
		add(name+"_p50_s", name+" p50", q.P50)
		add(name+"_p90_s", name+" p90", q.P90)
		add(name+"_p95_s", name+" p95", q.P95)
		add(name+"_p99_s", name+" p99", q.P99)
		add(name+"_max_s", name+" max", q.Max)
	}
	quantiles("run", &d.Run)
	quantiles("wait", d.Wait)
	level := func(name string, l *trace.Level) {
		if l == nil {
			add(name+"_mean_gpus", name+", mean GPUs", nil)
			return
		}
		add(name+"_mean_gpus", name+", mean GPUs", l.MeanGPUs)
		add(name+"_peak_hour_gpus", name+", busiest hour, GPUs", l.PeakGPUs)
		add(name+"_peak_hour", name+", busiest hour", l.PeakAt)
	}
	level("demand", &d.Demand)
	level("use", d.Use)
	if d.Read.MachineGPUs != nil {
		add("machine_gpus", "GPUs of the machine", *d.Read.MachineGPUs)
	}
	return t
}

// arrivals draws the arrivals by hour and by weekday, one line each.
func (d *Description) arrivals() []report.Chart {
	spark := func(title string, counts []int64) report.Chart {
		values := capcli.Map(counts, func(n int64) float64 { return float64(n) })
		return report.Chart{Title: title, Height: 1, Lines: []report.Line{{Values: values}}}
	}
	return []report.Chart{
		spark("arrivals by hour, 0 to 23, "+d.Zone+":", d.Hours[:]),
		spark("arrivals by weekday, Monday to Sunday:", d.Weekdays[:]),
	}
}

// shareFields are the columns of a table of shares of a total, after the columns first. part
// returns the share of a row.
func shareFields[R any](part func(R) float64, first ...report.Field[R]) []report.Field[R] {
	return append(
		first,
		report.Field[R]{Name: "jobs"},
		report.Field[R]{Name: "gpu_hours", Head: "GPU-hours"},
		report.Field[R]{Name: "gpu_hours_share", Head: "share", As: report.AsPercent},
		report.Field[R]{Name: "bar", Head: " ", Align: report.Left, Priority: 1, Picture: true, Cell: func(row R) any { return report.Bar(part(row), 1, 20) }},
	)
}

func gpuSizeTable(list []trace.Size) report.Table {
	return report.Fill(report.Table{Name: "sizes", Most: 20}, list, shareFields(
		func(s trace.Size) float64 { return s.Part },
		report.Field[trace.Size]{Name: "gpus", Head: "GPUs", Cell: func(s trace.Size) any {
			if n := int64(s.GPUs); s.GPUs == float64(n) {
				return n
			}
			return s.GPUs
		}},
	))
}

func lengthTable(list []trace.RunClass) report.Table {
	return report.Fill(report.Table{Name: "run_classes"}, list, shareFields(
		func(c trace.RunClass) float64 { return c.Part },
		report.Field[trace.RunClass]{Name: "run_from_s", Head: "run from", Cell: func(c trace.RunClass) any { return c.FromS }},
		report.Field[trace.RunClass]{Name: "run_to_s", Head: "to under", Cell: func(c trace.RunClass) any {
			if c.ToS == 0 {
				return report.Label{Head: "no end"}
			}
			return c.ToS
		}},
	))
}

// shareTable is the table of tenants, partitions, models or states. It is put aside if it names
// nothing.
func shareTable(name, head string, list []trace.Share) report.Table {
	t := report.Table{Name: name, Most: shownShares, Aside: len(list) == 0 || len(list) == 1 && list[0].Name == ""}
	return report.Fill(t, list, shareFields(
		func(s trace.Share) float64 { return s.Part },
		report.Field[trace.Share]{Name: "name", Head: head, Align: report.Left, Cell: func(s trace.Share) any { return cmp.Or(s.Name, "(unnamed)") }},
	))
}

func (d *Description) hours() report.Table {
	t := report.Table{Name: "arrivals_by_hour", Aside: true, Columns: []report.Column{{Name: "hour"}, {Name: "jobs"}}}
	for h, n := range d.Hours {
		t.Rows = append(t.Rows, []any{fmt.Sprintf("%02d:00 %s", h, d.Zone), n})
	}
	return t
}

func (d *Description) weekdays() report.Table {
	t := report.Table{Name: "arrivals_by_weekday", Aside: true, Columns: []report.Column{{Name: "weekday"}, {Name: "jobs"}}}
	for i, n := range d.Weekdays {
		t.Rows = append(t.Rows, []any{time.Weekday((i + 1) % 7).String(), n})
	}
	return t
}

// Description presents the description of a job log.
type Description struct {
	ByTag bool // the tags come first
	*trace.Description
}

// lead describes the whole log in one sentence.
func (d *Description) lead() string {
	jobs := d.Jobs - d.CPUOnlyJobs
	if jobs == 0 {
		return fmt.Sprintf("%s %s, none of which asks for a GPU.", capcli.Grouped(d.Jobs), capcli.Plural(d.Jobs, "job"))
	}
	text := fmt.Sprintf("%s GPU %s, submitted %s", capcli.Grouped(jobs), capcli.Plural(jobs, "job"), d.FirstSubmit.Date())
	if d.FirstSubmit.Date() != d.LastSubmit.Date() {
		text += " to " + d.LastSubmit.Date()
	}
	return text + fmt.Sprintf(", demand of %s GPU-hours: %s GPUs on average, %s in the busiest hour.",
		amountText(d.GPUHours), amountText(d.Demand.MeanGPUs), amountText(d.Demand.PeakGPUs))
}

// amountText formats an amount as a whole number, or with one decimal below ten.
func amountText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

// Doc is the report of the description.
func (d *Description) Doc() report.Doc {
	doc := report.Doc{
		Lead: d.lead(), Notes: d.Read.Remarks(), Data: d.Description, Charts: d.arrivals(),
		Tables: []report.Table{
			d.figures(), gpuSizeTable(d.Sizes), lengthTable(d.RunClasses),
			shareTable("tenants", "tenant", d.Tenants),
			shareTable("partitions", "partition", d.Partitions),
			shareTable("gpu_models", "GPU model", d.GPUModels),
			shareTable("states", "state", d.States),
			d.hours(), d.weekdays(),
		},
	}
	at := len(doc.Tables)
	if d.ByTag {
		at = 0
	}
	for _, t := range d.Tags {
		doc.Tables = slices.Insert(doc.Tables, at, shareTable("tag_"+t.Tag, t.Tag, t.Labelled()))
		at++
	}
	return doc
}

// ImportDoc is the report of the import as a table.
func ImportDoc(r *jobfile.Result) report.Doc {
	t := report.Table{Name: "import", Columns: []report.Column{{Name: "what"}, {Name: "rows"}, {Name: "reason"}}}
	t.Rows = append(t.Rows, []any{"kept", r.Kept, nil}, []any{"folded", r.Folded, nil}, []any{"rejected", r.Rejected, nil})
	for _, c := range r.Reasons {
		t.Rows = append(t.Rows, []any{"rejected_because", c.N, c.Reason})
	}
	for _, c := range r.Assumed {
		t.Rows = append(t.Rows, []any{"assumed", c.N, c.Reason})
	}
	return report.Doc{
		Lead:   fmt.Sprintf("%s of %s rows of %s are jobs, in %s.", capcli.Grouped(r.Kept), capcli.Grouped(r.Rows), r.Input, r.Out),
		Tables: []report.Table{t}, Notes: r.Notes, Data: r,
	}
}

// rowsAre is "row is" or "rows are".
func rowsAre(n int64) string {
	if n == 1 {
		return "row is"
	}
	return "rows are"
}

// share is the text of a part of all, in percent.
func share(part, all int64) string {
	v := float64(part) * 100 / float64(max(all, 1))
	if part > 0 && v < 0.01 {
		return "under 0.01%"
	}
	return fmt.Sprintf("%.2f%%", v)
}

// Transcript tells of an import in lines, one for each fact, its name first. Rejects is the file of rejected
// rows, "" without one, and missing what of them is not in it; written are the files of
func Transcript(r *jobfile.Result, rejects, missing string, written []string) string {
	var w strings.Builder
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(&w, "%-9s %s\n", name, fmt.Sprintf(format, args...)) // a buffer never fails
	}
	widest := len(capcli.Grouped(max(r.Kept, r.Rejected, 1)))
	kept := fmt.Sprintf("%*s %s", widest, capcli.Grouped(r.Kept), capcli.Plural(r.Kept, "job"))
	if r.Folded > 0 {
		kept += fmt.Sprintf(" (%s %s part of another, folded into it)", capcli.Grouped(r.Folded), rowsAre(r.Folded))
	}
	line("kept", "%s", kept)
	if r.Rejected > 0 {
		line("rejected", "%*s %s (%s)%s", widest, capcli.Grouped(r.Rejected), capcli.Plural(r.Rejected, "row"), share(r.Rejected, r.Rows), rejectsPlace(rejects, missing))
		reasons(&w, r.Reasons, widest)
	}
	for i, a := range r.Assumed {
		name := "assumed"
		if i > 0 {
			name = ""
		}
		line(name, "%*s %s: %s", widest, capcli.Grouped(a.N), capcli.Plural(a.N, "job"), a.Reason)
	}
	if r.Kept > 0 {
		line("covers", "%s", covered(r))
	}
	if len(r.Tags) > 0 {
		line("tags", "%s", strings.Join(r.Tags, ", "))
	}
	if r.Resorted {
		line("sorted", "the rows were not in order of submission; the jobs were sorted")
	}
	for _, n := range r.Notes {
		line("note", "%s", n)
	}
	for _, path := range written {
		if path != "" && path != "-" {
			line("wrote", "%s", path)
		}
	}
	if r.Out != "-" && r.Out != "" {
		line("wrote", "%s  %s", r.Out, bytesText(r.Bytes))
		if strings.ContainsAny(r.Out, " '\"$`\\*?&|;<>()") {
			return w.String() // a name with characters special to a shell cannot be copied from here
		}
		line("next:", "capcli trace describe %s", r.Out)
	}
	return w.String()
}

const shownReasons = 20

func reasons(w io.Writer, list []trace.Count, widest int) {
	for i, c := range list {
		if i == shownReasons {
			_, _ = fmt.Fprintf(w, "%10s%*s %d more reasons (-o json)\n", "", widest, "", len(list)-i)
			return
		}
		_, _ = fmt.Fprintf(w, "%10s%*s %s\n", "", widest, capcli.Grouped(c.N), c.Reason)
	}
}

func rejectsPlace(rejects, missing string) string {
	switch {
	case rejects == "":
		return "; name a file for them with --rejects"
	case missing != "":
		return ", in " + rejects + "; " + missing
	}
	return ", in " + rejects
}

func covered(r *jobfile.Result) string {
	text := r.First.Date()
	if r.Last.Date() != text {
		text += " to " + r.Last.Date()
	}
	for _, part := range []struct {
		n    int64
		name string
	}{{r.Partitions, "partition"}, {r.Tenants, "tenant"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %s %s", capcli.Grouped(part.n), capcli.Plural(part.n, part.name))
		}
	}
	return text + fmt.Sprintf(", %s GPU-hours", amountText(r.GPUHours.Hours()))
}

// bytesText formats n bytes in a fitting unit (SI, as disks are sold).
func bytesText(n int64) string {
	v := float64(n)
	for _, unit := range []string{"bytes", "KB", "MB", "GB"} {
		if v < 1000 || unit == "GB" {
			if unit == "bytes" {
				return fmt.Sprintf("%.0f %s", v, unit)
			}
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1000
	}
	return ""
}

// SchemaDoc lists the documents that have a schema.
func SchemaDoc() report.Doc {
	t := report.Table{Name: "documents", Columns: []report.Column{{Name: "name"}, {Name: "id", Priority: 1}, {Name: "doc", Head: "what it is"}}}
	for _, d := range schema.Documents.All() {
		t.Rows = append(t.Rows, []any{d.Name, d.Value.ID, d.Doc})
	}
	return report.Doc{Title: "Documents with a schema", Tables: []report.Table{t}}
}
