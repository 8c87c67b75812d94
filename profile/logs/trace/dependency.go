package trace

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"capcli"
)

// Dependencies are what a job waits for, as an expression in the words of Slurm's --dependency says it.
type Dependencies struct {
	After     []capcli.After
	One       bool // one is enough: the parts are joined by ? instead of a comma
	Singleton bool // it waits for all earlier jobs of its user and its name
}

// Limits of an expression.
const (
	mostDependencies = 10_000
	longestDelay     = 50 * 366 * 86400
)

// dependencyWords are Slurm's words and the dependencies that they stand for. A job of an array that waits
// for the same task of another (aftercorr) is read as afterok of that task.
var dependencyWords = map[string]capcli.AfterWhen{
	"after": capcli.AfterStart, "afterany": capcli.AfterAny, "afterok": capcli.AfterOK, "afternotok": capcli.AfterNotOK,
	"aftercorr": capcli.AfterOK, "afterburstbuffer": capcli.AfterAny, "aftersome": capcli.AfterSome,
}

// parseDependencies reads an expression such as afterok:1:2,afterany:3+10 (sbatch(1), --dependency). A
// number after + is minutes, and with an s seconds; "(unfulfilled)" and the like, which squeue adds, are
// passed over. A colon, comma or the like in an id is written as %3A. aftersome is our own word: one of
// these must end well, and all must end.
func parseDependencies(text string) (d Dependencies, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "(null)" {
		return d, nil
	}
	parts := strings.Split(text, ",")
	if strings.Contains(text, "?") {
		if len(parts) > 1 {
			return d, fmt.Errorf("%s joins some by commas and some by ?", shorten([]byte(text)))
		}
		d.One, parts = true, strings.Split(text, "?")
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if i := strings.IndexByte(part, '('); i > 0 && strings.HasSuffix(part, ")") {
			part = part[:i]
		}
		if part == "singleton" {
			d.Singleton = true
			continue
		}
		word, list, some := strings.Cut(part, ":")
		when, known := dependencyWords[word]
		if !known || !some {
			return d, fmt.Errorf("%s is no dependency; write afterok:ID, afterany:ID, afternotok:ID, after:ID or singleton", shorten([]byte(part)))
		}
		for id := range strings.SplitSeq(list, ":") {
			a, err := parseAfter(id, when)
			if err != nil {
				return d, err
			}
			if d.After = append(d.After, a); len(d.After) > mostDependencies {
				return d, fmt.Errorf("over %d dependencies of one job", mostDependencies)
			}
		}
	}
	return d, nil
}

// parseAfter reads an id with its delay.
func parseAfter(id string, when capcli.AfterWhen) (a capcli.After, err error) {
	a.When = when
	id, delay, has := strings.Cut(id, "+")
	if i := strings.IndexByte(id, '('); i > 0 && strings.HasSuffix(id, ")") {
		id = id[:i]
	}
	id = strings.TrimSuffix(id, "_*") // all tasks of an array
	if a.ID, err = url.PathUnescape(id); err != nil || a.ID == "" || len(a.ID) > maxIDText || !utf8.ValidString(a.ID) {
		return a, fmt.Errorf("%s is no job id", shorten([]byte(id)))
	}
	if !has {
		return a, nil
	}
	unit := int64(60)
	if seconds, is := strings.CutSuffix(delay, "s"); is {
		delay, unit = seconds, 1
	}
	n, err := strconv.ParseInt(delay, 10, 64)
	if err != nil || n < 0 || n > longestDelay/unit {
		return a, fmt.Errorf("%s is no delay; write +10 for minutes or +90s", shorten([]byte(delay)))
	}
	a.Delay = capcli.Seconds(n * unit)
	return a, nil
}

// maxIDText is the longest id in an expression.
const maxIDText = 1000

var afterWords = [...]string{capcli.AfterOK: "afterok", capcli.AfterAny: "afterany", capcli.AfterNotOK: "afternotok", capcli.AfterStart: "after", capcli.AfterSome: "aftersome"}

// escapeID writes an id so that nothing in it is read as a part of an expression: signs with a meaning, spaces and
// control characters as % and two digits a byte.
func escapeID(id string) string {
	var b strings.Builder
	for _, r := range id {
		if !strings.ContainsRune("%:,?+()*", r) && !unicode.IsSpace(r) && !unicode.IsControl(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// FormatDependencies writes what parseDependencies reads.
func FormatDependencies(s *capcli.Stage) string {
	var b strings.Builder
	sep := ","
	if s.One {
		sep = "?"
	}
	for i, a := range s.After {
		switch {
		case i > 0 && s.After[i-1].When == a.When && !s.One:
			b.WriteByte(':')
		default:
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(afterWords[a.When] + ":")
		}
		b.WriteString(escapeID(a.ID))
		if a.Delay > 0 {
			fmt.Fprintf(&b, "+%ds", a.Delay)
		}
	}
	if s.One && len(s.After) == 1 {
		return strings.TrimSuffix(b.String(), "?")
	}
	return b.String()
}

// ReadStage returns the place of a job in a workflow. after is an expression as parseDependencies reads it.
func ReadStage(after, workflow, stage string) (*capcli.Stage, error) {
	d, err := parseDependencies(after)
	if err == nil && d.Singleton {
		err = fmt.Errorf("singleton is known in Slurm's logs alone; name the jobs")
	}
	if err != nil {
		return nil, err
	}
	return &capcli.Stage{After: d.After, One: d.One, Workflow: workflow, Name: stage}, nil
}

// submittedWith returns the expression of --dependency in a command line such as sacct's SubmitLine; "" if
// it has none. Options after the name of the script are the script's own, and are not told apart.
func submittedWith(line string) string {
	words := strings.Fields(line)
	for i, w := range words {
		for _, option := range []string{"--dependency=", "-d"} {
			if text, is := strings.CutPrefix(w, option); is && text != "" && (option != "-d" || strings.HasPrefix(text, "after") || strings.HasPrefix(text, "singleton") || strings.HasPrefix(text, "=")) {
				return strings.Trim(strings.TrimPrefix(text, "="), `"'`)
			}
		}
		if (w == "--dependency" || w == "-d") && i+1 < len(words) {
			return strings.Trim(words[i+1], `"'`)
		}
	}
	return ""
}
