package data

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/jobfile"
	"capcli/profile/trace"
)

// say reports the import, as a transcript or in the form of -o. If the jobs themselves go to
// stdout, the report goes to stderr.
func (im *importing) say(res *jobfile.Result) error {
	if im.jobs != nil {
		res.Out, res.Bytes = im.o.out, im.jobs.Written
	}
	if res.Rejected > 0 && im.rejects.Out != nil {
		res.Rejects, res.Unlisted = &im.o.rejects, im.rejects.Left
	}
	e := im.e
	if im.o.usesStdout() {
		aside := *e
		aside.Stdout, aside.Screen.Stdout = e.Stderr, e.Screen.Stderr
		e = &aside
	}
	if im.o.output.Form != "" && im.o.output.Form != "table" {
		return shell.Emit(e, im.o.output, tables.ImportDoc(res))
	}
	if im.o.usesStdout() && e.Quiet {
		return nil
	}
	var b bytes.Buffer
	im.transcript(&b, res)
	_, err := io.WriteString(e.Stdout, shell.Printable(b.String())+"\n")
	return err
}

// transcript writes one line for each fact, its name first.
func (im *importing) transcript(w io.Writer, r *jobfile.Result) {
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%-9s %s\n", name, fmt.Sprintf(format, args...)) // a buffer never fails
	}
	widest := len(capcli.Grouped(max(r.Kept, r.Rejected, 1)))
	kept := fmt.Sprintf("%*s %s", widest, capcli.Grouped(r.Kept), capcli.Plural(r.Kept, "job"))
	if r.Folded > 0 {
		kept += fmt.Sprintf(" (%s %s part of another, folded into it)", capcli.Grouped(r.Folded), tables.RowsAre(r.Folded))
	}
	line("kept", "%s", kept)
	if r.Rejected > 0 {
		line("rejected", "%*s %s (%s)%s", widest, capcli.Grouped(r.Rejected), capcli.Plural(r.Rejected, "row"), tables.Share(r.Rejected, r.Rows), im.rejectsPlace())
		reasons(w, r.Reasons, widest)
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
	for _, path := range im.o.tables {
		if path != "" && path != "-" {
			line("wrote", "%s", path)
		}
	}
	if r.Out != "-" && r.Out != "" {
		line("wrote", "%s  %s", r.Out, bytesText(r.Bytes))
		if strings.ContainsAny(r.Out, " '\"$`\\*?&|;<>()") {
			return // a name with characters special to a shell cannot be copied from here
		}
		line("next:", "capcli trace describe %s", r.Out)
	}
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

func (im *importing) rejectsPlace() string {
	if im.rejects.Out == nil {
		return "; name a file for them with --rejects"
	}
	text := ", in " + im.o.rejects
	if full := im.rejects.MissingText(); full != "" {
		text += "; " + full
	}
	return text
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
	return text + fmt.Sprintf(", %s GPU-hours", tables.AmountText(r.GPUHours.Hours()))
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

// wrapNames joins names with commas into lines of at most width characters.
func wrapNames(names []string, width int) string {
	var b strings.Builder
	column := 0
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
			if column += 1; column+len(n)+1 > width {
				b.WriteByte('\n')
				column = 0
			} else {
				b.WriteByte(' ')
				column++
			}
		}
		b.WriteString(n)
		column += len(n)
	}
	return b.String()
}
