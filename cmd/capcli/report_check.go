package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/report/page"
	"capcli/scenarios/paper"
)

// checkReport makes the paper in the file of --check again, and says what differs.
func checkReport(e *env, o *reportOptions, args []string) error {
	if len(args) > 0 || o.out != "-" || o.xlsx != "" || o.figures != "" || o.title != "" {
		return &usageError{text: "--check takes one file and its inputs, and writes nothing", hint: "capcli report --check " + o.check}
	}
	in, done, err := e.open(o.check)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	text, err := io.ReadAll(io.LimitReader(in.R, runsMax))
	if err != nil {
		return files.OpenError(o.check, err)
	}
	if text, err = paperDocument(o.check, text); err != nil {
		return err
	}
	c, err := paper.Check(e.open, o.check, text, versionText())
	if err != nil {
		return err
	}
	if err := emit(e, outputOptions{form: o.form}, checkDoc(o.check, c)); err != nil || c.Same {
		return err
	}
	return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: o.check + " is not what its inputs make today", Hint: "make it again: " + c.Command}
}

// paperDocument returns the document of a paper: text itself, or what a page holds.
func paperDocument(name string, text []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return text, nil
	}
	doc, err := page.Document(text)
	if err != nil {
		return nil, &capcli.InputError{File: name, Text: "expected a paper of capcli report as HTML or JSON, found something else", Hint: "capcli report --check meeting.html", Err: err}
	}
	return doc, nil
}

// checkDoc is the report of a check.
func checkDoc(name string, c *paper.Recheck) report.Doc {
	lead := fmt.Sprintf("%s is what its %d inputs make, to the byte.", name, len(c.Inputs))
	if !c.Same {
		var changed []string
		for _, in := range c.Inputs {
			if in.State != "same" {
				changed = append(changed, in.File+" is "+in.State)
			}
		}
		if len(changed) == 0 {
			changed = []string{"no input changed"}
		}
		lead = fmt.Sprintf("%s is NOT what its inputs make: %s.", name, strings.Join(changed, ", "))
	}
	d := report.Doc{Lead: lead, Data: c, Notes: c.Differs, Tables: []report.Table{
		report.Fill(report.Table{Name: "inputs", Title: "Inputs"}, c.Inputs, []report.Field[paper.CheckedInput]{
			{Name: "file", Cell: func(in paper.CheckedInput) any { return in.File }},
			{Name: "state", Cell: func(in paper.CheckedInput) any { return report.Verdict{Text: in.State, Good: in.State == "same"} }},
			{Name: "sha256", Cell: func(in paper.CheckedInput) any { return in.SHA256[:min(12, len(in.SHA256))] }},
		}),
	}}
	if c.Version != c.Now {
		d.Notes = append(d.Notes, fmt.Sprintf("it was made by capcli %s, this is %s", c.Version, c.Now))
	}
	return d
}
