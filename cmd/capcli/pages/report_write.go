package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report/draw"
	"capcli/cmd/report/memo"
	"capcli/cmd/report/page"
	"capcli/cmd/report/paper"
	"capcli/cmd/report/sheet"
	"capcli/cmd/shell"
)

// paperWriters write a paper by -o.
var paperWriters = map[string]func(w io.Writer, p *paper.Paper, extras []page.Extra) error{
	"html": func(w io.Writer, p *paper.Paper, extras []page.Extra) error {
		return page.Write(w, p, page.Options{Extras: extras})
	},
	"md":   func(w io.Writer, p *paper.Paper, _ []page.Extra) error { return memo.Write(w, p, memo.Options{}) },
	"json": func(w io.Writer, p *paper.Paper, _ []page.Extra) error { return writePaperJSON(w, p) },
}

// shape returns the form of the paper: -o, else the ending of --out, else md.
func (o *reportOptions) shape() (string, error) {
	form := o.form
	if form == "" {
		form = strings.TrimPrefix(filepath.Ext(o.out), ".")
	}
	if form == "" || o.form == "" && o.figures != "" {
		form = "md"
	}
	if paperWriters[form] == nil {
		return "", &shell.UsageError{Text: fmt.Sprintf("unknown form %q of a paper: have html, md, json", form), Hint: "capcli report plan.json --out meeting.html"}
	}
	return form, nil
}

// command returns the command that makes the paper again.
func (o *reportOptions) command(args []string) string {
	words := append([]string{"capcli", "report"}, args...)
	for _, f := range []struct{ name, value string }{{"--title", o.title}, {"--out", o.out}} {
		if f.value != "" && f.value != "-" {
			words = append(words, f.name, f.value)
		}
	}
	if o.live {
		words = append(words, "--live")
	}
	for i, w := range words {
		words[i] = capcli.ShellWord(w)
	}
	return strings.Join(words, " ")
}

func writePaperJSON(w io.Writer, p *paper.Paper) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(p)
}

// writeFigures writes each picture into the folder of --out, and the paper in Markdown that shows
// them.
func (o *reportOptions) writeFigures(e *shell.Env, p *paper.Paper) error {
	if err := e.Disk.Mkdir(o.out); err != nil {
		return &files.WriteError{Path: o.out, Err: err}
	}
	write := draw.SVG
	if o.figures == "png" {
		write = draw.PNG
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		err := shell.WriteOutput(e, filepath.Join(o.out, f.ID+"."+o.figures), func(w io.Writer) error { return write(w, f, draw.Options{}) })
		if err != nil {
			return err
		}
	}
	text := memo.Options{Picture: func(id string) string { return id + "." + o.figures }}
	err := shell.WriteOutput(e, filepath.Join(o.out, "README.md"), func(w io.Writer) error { return memo.Write(w, p, text) })
	if err == nil {
		e.Say(fmt.Sprintf("wrote %d pictures and README.md into %s", len(p.Figures), o.out))
	}
	return err
}

// writeWorkbook writes the tables of a paper as a workbook.
func writeWorkbook(e *shell.Env, name string, p *paper.Paper) error {
	return shell.WriteOutput(e, name, func(w io.Writer) error { return sheet.Write(w, p) })
}
