// Package page writes a paper as one HTML file. The file needs no network, sends nothing, prints on
// A4, and has the same bytes each time. A content security policy lets only those scripts and styles
// work whose hashes are in it.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the template, style and script of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"capcli/cmd/report/paper"
)

// Options are what a page has beside its paper.
type Options struct {
	Extras []Extra // sections between the answer and the figures, such as a what-if
	Rows   int     // rows shown of each table; 0 is 200
}

// Extra is a section of another package. Everything in it is trusted: names that users gave must
// be escaped, as html/template does.
type Extra struct {
	ID      string        // id of the section: small letters, digits and dashes
	Title   string        // its heading
	HTML    template.HTML // what is under the heading; it has no script, style or handler of its own
	Style   string        // CSS, put into the head
	Scripts []string      // run in their order at the end of the page, after the page's own script
	Data    []Data        // blocks that scripts read
	WASM    bool          // the policy lets scripts compile WebAssembly
	Worker  bool          // the policy lets scripts start workers from blobs
	Connect []string      // sources that scripts may ask, such as 'self'; none where the page is a file
}

// Data is a block of text in the page that no browser runs: <script type=Type id=ID>.
type Data struct {
	ID   string
	Type string // such as application/json, or text/plain for base64
	Text string // must not hold "</script" or "<!--": base64, or JSON as encoding/json writes it
}

// DocumentID is the id of the block with the document of the paper.
const DocumentID = "paper"

//go:embed page.html
var templateText string

//go:embed page.css
var styleText string

//go:embed page.js
var scriptText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"clean": cleanText}).Parse(templateText))

// Write writes the page of p. It fails where a figure cannot be drawn, and where an Extra or its
// Data are not as they must be.
func Write(w io.Writer, p *paper.Paper, o Options) error {
	v, err := newView(p, o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// documentBlock returns the document of p as a block of data. encoding/json writes <, > and & as \u003c
// and so on, so that no text can end the block.
func documentBlock(p *paper.Paper) (Data, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Data{}, fmt.Errorf("write the document of the paper: %w", err)
	}
	return Data{DocumentID, "application/json", string(text)}, nil
}

// Document returns the JSON document of the paper that a page was made from. It fails where page
// has none.
func Document(page []byte) ([]byte, error) {
	open := []byte(`<script type="application/json" id="` + DocumentID + `">`)
	_, rest, found := bytes.Cut(page, open)
	text, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !found || !ended {
		return nil, fmt.Errorf("this is no page of capcli report: it has no block %q", DocumentID)
	}
	return text, nil
}

func block(d Data) (template.HTML, error) {
	lower := strings.ToLower(d.Text)
	switch {
	case !isID(d.ID):
		return "", fmt.Errorf("block %.40q: its id must consist of small letters, digits and dashes", d.ID)
	case d.Type != "application/json" && d.Type != "text/plain":
		return "", fmt.Errorf("block %s: type %.40q, want application/json or text/plain", d.ID, d.Type)
	case strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") || strings.Contains(lower, "<script"):
		return "", fmt.Errorf("block %s: its text could end the block", d.ID)
	}
	return template.HTML(`<script type="` + d.Type + `" id="` + d.ID + `">` + d.Text + `</script>`), nil
}

// script returns the markup of a script, with the source that allows it in the policy.
func script(text string) (markup template.HTML, source string, err error) {
	lower := strings.ToLower(text)
	if strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") {
		return "", "", fmt.Errorf("a script of the page holds %q or %q", "</script", "<!--")
	}
	return template.HTML("<script>" + text + "</script>"), hashSource(text), nil
}

func isID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// hashSource returns the source of a policy that allows exactly text (Content Security Policy Level 3,
// section 2.3.1).
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy returns the content security policy of a page with these sources of styles and scripts.
func policy(styles, scripts []string, extras []Extra) string {
	var connect []string
	worker := false
	for _, e := range extras {
		if e.WASM {
			scripts = append(scripts, "'wasm-unsafe-eval'")
		}
		worker = worker || e.Worker
		connect = append(connect, e.Connect...)
	}
	parts := []string{
		"default-src 'none'",
		"style-src " + strings.Join(styles, " "),
		"script-src " + strings.Join(scripts, " "),
	}
	if worker {
		parts = append(parts, "worker-src blob:")
	}
	if len(connect) > 0 {
		parts = append(parts, "connect-src "+strings.Join(connect, " "))
	}
	return strings.Join(append(parts, "base-uri 'none'", "form-action 'none'"), "; ")
}
