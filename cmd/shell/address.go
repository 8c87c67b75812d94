package shell

import (
	"net/url"
	"strings"

	"capcli/profile/web"
)

// ArgumentSecrets returns a replacer for messages that repeat an argument of the program. It
// replaces each address that holds a secret with a form that may be shown.
func ArgumentSecrets(args []string) *strings.Replacer {
	var pairs []string
	for _, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "-") {
			a = value
		}
		if u, shown := web.ParseAddress(a); u != nil && shown != a {
			pairs = append(pairs, a, shown)
		}
	}
	return strings.NewReplacer(pairs...)
}

// mayHoldSecret reports whether text may be a misspelt address with a secret in it. No message may
// repeat such a text.
func mayHoldSecret(text string) bool {
	return strings.Contains(text, "://") || strings.ContainsAny(text, "@?#")
}

// WhereFlag parses the value of --where. It returns the text that messages may show, and the
// address, or nil where the value names a file. It fails when the value is no file and could be a
// misspelt address with a secret in it.
func (e *Env) WhereFlag(where string) (shown string, u *url.URL, err error) {
	u, shown = web.ParseAddress(where)
	if u != nil {
		return shown, u, nil
	}
	if where == "" || !mayHoldSecret(where) {
		return where, nil, nil
	}
	if _, err := e.Disk.Stat(where); err == nil {
		return where, nil, nil
	}
	return "", nil, &UsageError{
		Text: "--where names neither a file nor an address that begins with http:// or https:// (it is not shown here, because it may hold a secret)",
		Hint: "in the user name and password of an address, write @ as %40, / as %2F, % as %25",
	}
}
