package readings

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
)

// Place is where programs say something: a page of metrics, a file, or a folder of files.
type Place struct {
	Name  string            // the address or the path
	Page  bool              // it is an address of a page
	Owner profile.Owner     // whose the figures are; empty is by labels, or by the file's name
	Own   map[string]string // our names by the program's own, as normalise writes them
}

// ParsePlace reads an address or a path, and what follows a #: whose the figures are, and the program's own names
// of figures.
//
//	train.jsonl#job=88213
//	http://127.0.0.1:8000/metrics#namespace=chat&pod=vllm-0
//	train.log#tokens_per_s=speed/tok&keep=queue_depth,grad_norm
func ParsePlace(text string) (Place, error) {
	name, tail, _ := strings.Cut(text, "#")
	p := Place{Name: name, Own: map[string]string{}}
	p.Page = strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
	fault := func(text string) error {
		return &capcli.RequestError{Field: "readings", Text: text, Hint: "--readings train.jsonl#job=88213 or --readings http://127.0.0.1:8000/metrics"}
	}
	if name == "" {
		return p, fault("wants the address of a page of metrics, a file or a folder")
	}
	q, err := url.ParseQuery(tail)
	if err != nil {
		return p, fault("has " + capcli.Quoted(tail) + " after #, want job=NAME or name=value&name=value")
	}
	for _, k := range slices.Sorted(maps.Keys(q)) {
		v := q.Get(k)
		switch k {
		case "job":
			p.Owner.Job = v
		case "pod":
			p.Owner.Pod = v
		case "namespace":
			p.Owner.Namespace = v
		case "container":
			p.Owner.Container = v
		case "user":
			p.Owner.User = v
		case "keep":
			for _, n := range strings.Split(v, ",") {
				p.Own[string(normalise(nil, []byte(n)))] = string(normalise(nil, []byte(n)))
			}
		default:
			if !slices.Contains(ours, k) {
				return p, fault("has " + capcli.Quoted(k) + " after #, want job, pod, namespace, container, user, keep, or one of " + strings.Join(ours, ", "))
			}
			p.Own[string(normalise(nil, []byte(v)))] = k
		}
	}
	return p, nil
}

// ours are the names that a program's own may stand for.
var ours = []string{profile.ToldTokens, profile.ToldGPUTokens, profile.ToldSamples, profile.ToldGPUSamples, profile.ToldStep, profile.ToldMFU, profile.ToldTFLOPS}

// numbersOf calls each with the whole numbers in a file's name that may be those of a process or a job.
func numbersOf(name string, each func(n string) bool) {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	if parts := strings.Split(name, "/"); len(parts) > 2 && parts[1] == "proc" { // /proc/4242/root/tmp/train.jsonl
		if _, err := strconv.Atoi(parts[2]); err == nil && each(parts[2]) {
			return
		}
	}
	for i := 0; i < len(base); {
		if base[i] < '0' || base[i] > '9' {
			i++
			continue
		}
		from := i
		for i < len(base) && base[i] >= '0' && base[i] <= '9' {
			i++
		}
		if i-from <= 18 && each(base[from:i]) {
			return
		}
	}
}
