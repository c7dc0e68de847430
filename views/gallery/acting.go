package gallery

import (
	"countersign/models"
	"countersign/views/pages"
)

// Own is what most readers may do: decide in their own right.
var Own = models.Right{Own: true, MayApprove: true}

// Able are the rights of a reader who may decide all of some requests.
func Able(rows []models.Brief) map[models.ResponseID]models.Right {
	out := make(map[models.ResponseID]models.Right, len(rows))
	for i := range rows {
		out[rows[i].ID] = Own
	}
	return out
}

// able lets the reader of a conversation decide all of it.
func able(in pages.ConversationInput) pages.ConversationInput {
	in.Around.Run.Rights = map[models.ResponseID]models.Right{}
	for _, e := range in.History.Entries {
		if e.Response != nil {
			in.Around.Run.Rights[e.Response.ID] = Own
		}
	}
	return in
}
