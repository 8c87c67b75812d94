package tables

import (
	"fmt"
	"io"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
)

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
