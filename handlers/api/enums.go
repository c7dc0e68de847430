package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// enumAll in an enum tag means every value that models lists for the member's type. A member that takes only some of
// them names these.
const enumAll = "all"

// lists are the types of the wire whose values models lists.
var lists = map[reflect.Type][]any{
	reflect.TypeFor[wire.Kind]():   values(models.Kinds()),
	reflect.TypeFor[wire.Risk]():   values(models.Risks()),
	reflect.TypeFor[wire.Status](): values(models.Statuses()),
	reflect.TypeFor[wire.Cause]():  values(models.Causes()),
}

func values[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, value := range list {
		out[i] = string(value)
	}
	return out
}

// statusFilter is a parameter that takes any status.
type statusFilter models.Status

// Schema describes it in the document.
func (statusFilter) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: lists[reflect.TypeFor[wire.Status]()]}
}
