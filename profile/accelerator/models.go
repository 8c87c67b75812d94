package accelerator

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed models.json
var modelsJSON []byte

// models returns the data sheets, in order of vendor and age. Peaks are dense: NVIDIA prints those of its newer
// models with sparsity, which doubles them. Where boards differ, the row is that of the SXM or OAM board.
var models = sync.OnceValue(func() (all []Model) {
	if err := json.Unmarshal(modelsJSON, &all); err != nil {
		panic(err) // a test reads each of them
	}
	return all
})
