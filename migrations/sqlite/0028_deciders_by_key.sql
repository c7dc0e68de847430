-- +goose Up
-- Who may decide a request is its owner or was asked: its places in inboxes are found by
-- their key, and need no index by request, which every ask and every decision wrote.
DROP INDEX deciders_response;
