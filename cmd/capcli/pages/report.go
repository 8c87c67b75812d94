package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/panel"
	"capcli/cmd/report/draw"
	"capcli/cmd/report/memo"
	"capcli/cmd/report/page"
	"capcli/cmd/report/paper"
	"capcli/cmd/report/sheet"
	"capcli/cmd/shell"
	"capcli/scenarios/decide"
)

// reportOptions are the flags of report.
type reportOptions struct {
	form, out, title, xlsx, figures, check string

	live   bool
	extras []page.Extra // sections of --live
}

func newReport(e *shell.Env) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RESULT…",
		Short: "Make one page of saved results, for the meeting that decides",
		Long: "Makes a paper of saved results: folders of capcli simulate --out, and files of capcli plan --save, forecast -o json\n" +
			"and validate -o json, in any order. It says first what to buy, what it costs a year, what is not served, and the risk.",
		Example: "  capcli report runs/a runs/b plan.json --out meeting.html\n" +
			"  capcli report runs/a plan.json --title 'H100 for 2027' --out meeting.html --xlsx meeting.xlsx\n" +
			"  capcli report plan.json --figures png --out pictures/\n" +
			"  capcli report --check meeting.html",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.form, "output", "o", "", "`FORM` of the paper: html, md, json (default: by the ending of --out, else md)")
	f.StringVar(&o.out, "out", "-", "write the paper to this `FILE`; with --figures a folder")
	f.StringVar(&o.title, "title", "", "`TITLE` of the paper")
	f.StringVar(&o.xlsx, "xlsx", "", "also write all tables as a workbook to this `FILE`")
	f.StringVar(&o.figures, "figures", "", "write each picture as svg or png into the folder --out: `KIND`")
	f.BoolVar(&o.live, "live", false, "the page answers what-if questions about its first folder of runs, or its decision: it carries the engine and the jobs")
	f.StringVar(&o.check, "check", "", "make the paper in this `FILE` again from its inputs, and say what differs")
	shell.Complete(cmd, "output", func() []string { return []string{"html", "md", "json"} })
	shell.Complete(cmd, "figures", func() []string { return []string{"svg", "png"} })
	return cmd
}

func runReport(ctx context.Context, e *shell.Env, o *reportOptions, args []string) error {
	if o.check != "" {
		return checkReport(e, o, args)
	}
	form, err := o.shape()
	if err != nil {
		return err
	}
	if o.figures != "" && (o.figures != "svg" && o.figures != "png" || o.out == "-") {
		return &shell.UsageError{Text: "--figures wants svg or png, and a folder --out", Hint: "capcli report plan.json --figures svg --out pictures/"}
	}
	q := paper.Request{Title: o.title, Version: shell.VersionText(), Command: o.command(args)}
	for _, name := range args {
		f, err := paper.ReadFile(e.Open, e.ResultPath(name))
		if errors.Is(err, fs.ErrNotExist) && e.IsFolder(name) {
			return &shell.UsageError{Text: name + " is no folder of runs: it has no " + shell.ResultFile, Hint: "name the folders in it: capcli report " + capcli.ShellWord(name) + "/*"}
		}
		if err != nil {
			return err
		}
		q.Files = append(q.Files, *f)
	}
	p, err := paper.Make(&q)
	if err != nil {
		return err
	}
	if o.live {
		if err := o.addLive(ctx, e, form, args); err != nil {
			return err
		}
	}
	if o.xlsx != "" {
		if err := writeWorkbook(e, o.xlsx, p); err != nil {
			return err
		}
	}
	if o.figures != "" {
		return o.writeFigures(e, p)
	}
	if err := shell.WriteOutput(e, o.out, func(w io.Writer) error { return paperWriters[form](w, p, o.extras) }); err != nil {
		return err
	}
	if form == "html" && o.out != "-" {
		e.Say("wrote " + o.out + ": one file, opens without a network, prints on A4. next: capcli report --check " + capcli.ShellWord(o.out))
	}
	return nil
}

// addLive adds the what-if section, about the first folder of runs in args, else the decision.
func (o *reportOptions) addLive(ctx context.Context, e *shell.Env, form string, args []string) error {
	i := slices.IndexFunc(args, e.IsFolder)
	d := slices.IndexFunc(args, func(name string) bool { return filepath.Base(name) == decide.DecisionFile })
	if form != "html" || i < 0 && d < 0 {
		return &shell.UsageError{Text: "--live wants a folder of runs or a decision, and a page as --out", Hint: "capcli report decision/decision.json --live --out live.html; capcli report runs/plan --live --out live.html"}
	}
	var x page.Extra
	var err error
	if i >= 0 {
		x, err = panel.OfFolder(ctx, shell.NewMaker(e), e.Folder(args[i]))
	} else {
		x, err = panel.OfDecision(ctx, e.Open, args[d])
	}
	o.extras = append(o.extras, x)
	return err
}

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
