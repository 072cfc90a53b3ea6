//! What is answered: one file a group of routes.

pub(crate) mod attribution;
pub(crate) mod audit;
pub(crate) mod documents;
pub(crate) mod jobs;
pub(crate) mod libretranslate;
pub(crate) mod look;
pub(crate) mod models;
pub(crate) mod openapi;
pub(crate) mod picture;
pub(crate) mod status;
pub(crate) mod translate;
pub(crate) mod tree;
pub(crate) mod web;
