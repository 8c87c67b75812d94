package play_test

import (
	"encoding/json"
	"errors"
	"testing"

	"capcli"
	"capcli/scenarios/play"
)

// FuzzInputs holds that what a folder says of its runs is either good or bad
// input, and that what is good is read the same again.
func FuzzInputs(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"schema":"capcli/inputs/v1","runs":1,"scenario":{"file":"a.yaml","text":"x","sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},"files":[{"file":"j.csv"}],"trace":{"file":"-"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := play.ParseInputs("inputs.json", text)
		if err != nil {
			var bad *capcli.InputError
			if !errors.As(err, &bad) || bad.File != "inputs.json" {
				t.Fatalf("%v is not about the file", err)
			}
			return
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := play.ParseInputs("inputs.json", again); err != nil {
			t.Fatalf("was good, and written again is not: %v", err)
		}
	})
}
