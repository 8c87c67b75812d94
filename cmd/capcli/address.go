package main

import (
	"net/url"
	"strings"

	"capcli/profile/web"
)

// argumentSecrets replaces the addresses among the arguments of the program by what
// of them may be shown, for messages that repeat an argument.
func argumentSecrets(args []string) *strings.Replacer {
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

// secretive tells whether text, which names no file, may be an address with a
// secret in it that was misspelt: it must not be repeated.
func secretive(text string) bool {
	return strings.Contains(text, "://") || strings.ContainsAny(text, "@?#")
}

// whereFlag gives what --where says in a form that may be shown, and the address
// that it stands for where it is one. A file keeps its name.
func (e *env) whereFlag(where string) (shown string, u *url.URL, err error) {
	if u, shown = web.ParseAddress(where); u != nil {
		return shown, u, nil
	}
	if where == "" || !secretive(where) {
		return where, nil, nil
	}
	if _, err := e.disk.Stat(where); err == nil {
		return where, nil, nil
	}
	return "", nil, &usageError{
		text: "--where is no file that is there, and no address that begins with http:// or https:// (it is not repeated here: it may hold a secret)",
		hint: "in names and passwords of an address write @ as %40, / as %2F, % as %25",
	}
}
