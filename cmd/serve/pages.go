package serve

import (
	"html/template"
	"io"
	"net/http"
	"strconv"

	"capcli"
)

var indexTemplate = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>capcli serve</title></head>
<body><main><h1>Runs</h1><ul>{{range $i, $r := .}}<li><a href="/run/{{$i}}">{{$r.Name}}</a></li>{{end}}</ul></main></body></html>
`))

// serveIndex answers with the page of the only run, or a list of the runs.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request) {
	if len(s.o.Runs) == 1 {
		s.writePage(w, s.o.Runs[0].Page)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	s.count.add("page", http.StatusOK)
	_ = indexTemplate.Execute(w, s.o.Runs) // a client that has gone away is no fault
}

// servePage answers with the page of a run, by its number.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || i < 0 || i >= len(s.o.Runs) {
		s.fail(w, http.StatusNotFound, &capcli.RequestError{Text: "there is no such run"})
		return
	}
	s.writePage(w, s.o.Runs[i].Page)
}

// writePage answers with a page. Its own policy is in it; that of the header forbids frames, which a
// page cannot forbid by itself.
func (s *Server) writePage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	s.count.add("page", http.StatusOK)
	_, _ = w.Write(page) // a client that has gone away is no fault
}

// serveMetrics answers with the server's own counts.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	s.count.add("metrics", http.StatusOK)
	_, _ = io.WriteString(w, s.openMetrics())
}
